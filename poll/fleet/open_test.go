package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A string that cannot name a store is an error without the password.
func TestOpen_wrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, shared := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	check(t, os.WriteFile(file, nil, 0o600))
	check(t, os.Mkdir(shared, 0o700))
	check(t, os.Chmod(shared, 0o777))
	for where, want := range map[string]string{
		"":                               "a directory, redis://HOST or rediss://HOST is needed",
		"redis+tls://:hunter2@cache":     "neither a directory nor a redis://",
		"redis://:hunter2@":              "names no host",
		"redis://:hunter2@cache/-1":      "the number of a database",
		"redis://:hunter2@cache?db=1":    "the number of a database",
		"redis://:hunter2/@cache":        "cannot be read",
		"redis://:hunter2?x@cache":       "cannot be read",
		"redis://hunter2:1/x@cache":      "the number of a database",
		"redis://:hunter2%zz@cache":      "cannot be read",
		"unix://run/redis.sock":          "three slashes",
		"unix:///run/redis.sock?db=x":    "the number of a database",
		"me:hunter2@localhost:6379":      "write redis:// before",
		"Redis:hunter2":                  "write redis:// before",
		"UNIX:/run/hunter2.sock":         "write redis:// before",
		"me:hun/hunter2@cache:6379":      "write redis:// before",
		"hunter2/@cache:6379":            "write redis:// before",
		file + "/me:hunter2@cache":       "write redis:// before",
		"me:hunter2\x00@cache":           "write redis:// before",
		file:                             "is not a directory",
		shared:                           "other users may write to",
		filepath.Join(file, "directory"): "not a directory",
	} {
		if runtime.GOOS == "windows" && (where == shared || filepath.Dir(where) == file) {
			continue // Windows has no modes, and a path below a file does not exist
		}
		f, err := Open(where, Options{})
		if err == nil {
			f.Close()
			t.Errorf("%q is opened", where)
			continue
		}
		if !strings.HasPrefix(err.Error(), "share: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %s", where, err, want)
		}
	}
}

// An existing directory may have any name. A new directory may have most names.
func TestOpen_names(t *testing.T) {
	t.Chdir(t.TempDir())
	existing := []string{"redis:", "unix:x", "me:you@here:1", "cache:6379"}
	absent := []string{"redis", "unix", "redisson:x", "./a:1/b", "me@here/12:30", "./redis:x"}
	if runtime.GOOS == "windows" { // a colon on Windows ends a drive or starts a stream
		existing, absent = nil, []string{"redis", "unix", `C:\shared`, `c:shared`, `C:/me@here/shared`, `\\server\share\polls`, `\\?\C:\shared`}
	}
	for _, name := range existing {
		check(t, os.Mkdir(name, 0o700))
	}
	for _, name := range append(existing, absent...) {
		if _, err := Open(name, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server needs a certificate for its name.
func TestOpen_verifies(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	t.Cleanup(web.Close)
	listener := must(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates}))
	t.Cleanup(func() { listener.Close() })
	go forward(listener, s.socket)
	where := "rediss://" + listener.Addr().String()
	f, notes := open(t, strings.Replace(where, "//", "//:hunter2@", 1))
	if note := sends(f, notes, 1); !strings.Contains(note, "certificate") || strings.Contains(note, "hunter") {
		t.Errorf("told %q", note)
	}
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	encrypted, _, err := openStore(where, &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	trusted := newFleet(encrypted, where, Options{Note: func(note string) { t.Error(note) }})
	sends(trusted, nil, 3)
	trusted.Close()
}

// A key cannot be recognized without the secret. Other versions have different keys.
func TestKey(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, secret := range []string{"", "a", "b"} {
		f := newFleet(swapping{&memory{}}, "here", Options{Secret: []byte(secret)})
		for _, key := range []string{f.key("limit-", "x"), f.key("limit-", "y"), f.key("test-", "x")} {
			if seen[key] || strings.Contains(key, "x") {
				t.Errorf("a key is %s", key)
			}
			seen[key] = true
		}
	}
	if !seen["poll-3-limit-f2544dbb88fc8266a99437d06b6ab015"] { // processes of different builds share this key
		t.Errorf("the keys are %v", seen)
	}
}

// Each machine has its own limit for a loopback address, unless the limit has a name.
func TestFleet_keys(t *testing.T) {
	t.Parallel()
	f := newFleet(swapping{&memory{}}, "here", Options{})
	key := func(o Options, place string) string {
		return newFleet(swapping{&memory{}}, "here", o).origin(place).key
	}
	token := func(string) string { return "token" }
	for name, test := range map[string]struct {
		one, other string
		same       bool
	}{
		"one place":             {key(Options{}, "https://a:1"), key(Options{PerSecond: 3, Known: true}, "https://a:1"), true},
		"the same name":         {key(Options{Name: "n"}, "https://a:1"), key(Options{Name: "n", Key: token}, "http://localhost"), true},
		"a name like a place":   {key(Options{Name: "https://a:1"}, "https://a:1"), key(Options{}, "https://a:1"), false},
		"this machine":          {key(Options{}, "http://localhost:80"), f.key("limit-", "place http://localhost:80"), false},
		"of a private network":  {key(Options{}, "tcp://10.0.0.1:80"), f.key("limit-", "place tcp://10.0.0.1:80"), true},
		"an address of its own": {key(Options{}, "tcp://127.0.0.2:80"), f.key("limit-", "place tcp://127.0.0.2:80"), false},
	} {
		if (test.one == test.other) != test.same {
			t.Errorf("%s: %s and %s", name, test.one, test.other)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("redis://me:hunter2@cache:1/2?x#y")
	f.Add("unix://me:hunter2@/run/redis.sock?db=2")
	f.Add("rediss://[::1]")
	f.Fuzz(func(t *testing.T, where string) {
		if !strings.Contains(where, "://") {
			return
		}
		_, shown, err := openStore(where, nil)
		if err == nil && strings.HasPrefix(where, "redis") && strings.Contains(shown, "hunter2@") {
			t.Errorf("%q is shown as %s", where, shown)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", where, err)
		}
	})
}

// forward copies the connections of listener to a socket.
func forward(listener net.Listener, socket string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			to, err := net.Dial("unix", socket)
			if err != nil {
				return
			}
			defer to.Close()
			go io.Copy(to, conn)
			io.Copy(conn, to)
		}()
	}
}

// check ends the test at the first error: the preparation of the test has failed.
func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
