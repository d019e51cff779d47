package fleet

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadAddress(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]address{
		"redis://cache":                       {network: "tcp", host: "cache:6379", words: "redis://cache"},
		"redis://cache:1234/5":                {network: "tcp", host: "cache:1234", database: 5, words: "redis://cache:1234/5"},
		"redis://:p%40ss@[::1]:1/":            {network: "tcp", host: "[::1]:1", password: "p@ss", words: "redis://[::1]:1/"},
		"redis://me:pass@cache":               {network: "tcp", host: "cache:6379", user: "me", password: "pass", words: "redis://cache"},
		"unix:///run/redis.sock":              {network: "unix", host: "/run/redis.sock", words: "unix:///run/redis.sock"},
		"unix://me:pass@/run/redis.sock?db=2": {network: "unix", host: "/run/redis.sock", user: "me", password: "pass", database: 2, words: "unix:///run/redis.sock"},
	} {
		if have, err := readAddress(where, Options{}); err != nil || have != want {
			t.Errorf("%s:\nhave %+v, %v\nwant %+v", where, have, err, want)
		}
	}
	a, err := readAddress("rediss://me:pass@cache", Options{})
	if err != nil || a.encryption == nil || a.encryption.ServerName != "cache" || a.encryption.InsecureSkipVerify || a.encryption.MinVersion == 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// What can never be right is an error, without the password.
func TestOpen_wrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		"":                               "a directory, redis://HOST or rediss://HOST is needed",
		"http://me:hunter2@cache":        "none of a directory, redis://",
		"redis+tls://:hunter2@cache":     "none of a directory, redis://",
		"redis://:hunter2@":              "names no host",
		"redis://:hunter2@cache/one":     "the database is a number",
		"redis://:hunter2@cache/-1":      "the database is a number",
		"redis://:hunter2@cache?db=1":    "nothing may follow the database",
		"redis://:hunter2#@cache":        "cannot be read",
		"redis://:hunter2/@cache":        "cannot be read",
		"redis://:hunter2?x@cache":       "cannot be read",
		"redis://me:1/hunter2@cache":     "the database is a number",
		"redis://hunter2:1/x@cache":      "the database is a number",
		"redis://cache#hunter2":          "nothing may follow the database",
		"redis://:hunter2%zz@cache":      "cannot be read",
		"redis://:hunter2@cache:port":    "cannot be read",
		"unix://run/redis.sock":          "three slashes",
		"unix://":                        "three slashes",
		"unix:///run/redis.sock?db=x":    "the database is a number",
		"localhost:6379":                 "write redis:// before",
		"me:hunter2@localhost:6379":      "write redis:// before",
		":hunter2@cache":                 "write redis:// before",
		"redis:/me:hunter2@cache":        "write redis:// before",
		"Redis:hunter2":                  "write redis:// before",
		"rediss:..hunter2":               "write redis:// before",
		"UNIX:/run/hunter2.sock":         "write redis:// before",
		"me:hun/hunter2@cache:6379":      "write redis:// before",
		"me:hunter2@/cache":              "write redis:// before",
		"hunter2/@cache:6379":            "write redis:// before",
		file + "/me:hunter2@cache":       "write redis:// before",
		"me:hunter2\x00@cache":           "write redis:// before",
		file:                             "is not a directory",
		open:                             "other users may write to",
		filepath.Join(file, "directory"): "not a directory",
	} {
		if runtime.GOOS == "windows" && (where == open || filepath.Dir(where) == file) {
			continue // it has no modes, and what is below a file is only not there
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

// A directory may have any name if it exists, and most if it does not.
func TestOpen_names(t *testing.T) {
	t.Chdir(t.TempDir())
	existing := []string{"redis:", "unix:x", "me:you@here:1", "cache:6379"}
	absent := []string{"redis", "unix", "redisson:x", "./a:1/b", "me@here/12:30", "./redis:x"}
	if runtime.GOOS == "windows" { // a colon is behind a drive there, or before a stream
		existing, absent = nil, []string{"redis", "unix", `C:\shared`, `c:shared`, `C:/me@here/shared`, `\\server\share\polls`, `\\?\C:\shared`}
	}
	for _, existing := range existing {
		if err := os.Mkdir(existing, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := open(existing, Options{}); err != nil {
			t.Errorf("%s: %v", existing, err)
		}
	}
	for _, absent := range absent {
		if _, _, err := open(absent, Options{}); err != nil {
			t.Errorf("%s: %v", absent, err)
		}
	}
}

// A server without the certificate for its name is not used.
func TestOpen_verifies(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go serveTLS(listener)
	_, notes := share(t, "rediss://:hunter2@"+listener.Addr().String())
	if note := <-notes; !strings.Contains(note, "certificate") {
		t.Errorf("told %q", note)
	}
}

// Who does not have the secret cannot recognize a key.
func TestKey(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, secret := range []string{"", "a", "b"} {
		f, err := Open(t.TempDir(), Options{Secret: []byte(secret)})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, text := range []string{"", "x", "y", "x y"} {
			key := f.Key(text)
			if other, ok := seen[key]; ok || len(key) != 32 || strings.Trim(key, "0123456789abcdef") != "" {
				t.Errorf("the key of %q with %q is %s, as that of %q", text, secret, key, other)
			}
			seen[key] = text + " with " + secret
		}
	}
	f, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if key := f.Key("x"); key != "a0d72b260952d3db6c3e5dc10c88098f" { // programs of other versions share it
		t.Errorf("the key is %s", key)
	}
}

func FuzzReadAddress(f *testing.F) {
	f.Add("redis://me:hunter2@cache:1/2?x#y")
	f.Add("unix://me:hunter2@/run/redis.sock?db=2")
	f.Add("rediss://[::1]")
	f.Fuzz(func(t *testing.T, where string) {
		e, words, err := open(where, Options{})
		if r, ok := e.(*redisEngine); ok && err == nil && (r.address.host == "" || len(r.address.password) > 5 && strings.Contains(words, r.address.password+"@")) {
			t.Errorf("%q: %+v", where, r.address)
		}
		if err != nil && strings.Contains(where, "://") && strings.Contains(err.Error(), "hunter2@") {
			t.Errorf("%q: %v", where, err)
		}
	})
}

// serveTLS shows everybody a certificate that nobody has signed.
func serveTLS(listener net.Listener) {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		tls.Server(conn, config).Handshake()
		conn.Close()
	}
}
