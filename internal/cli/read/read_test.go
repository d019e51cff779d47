package read

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/httpscript"
)

// headersOf returns the header for values, and the function that reads the files again.
func headersOf(t *testing.T, args ...string) (header http.Header, again refresh, err error) {
	t.Helper()
	r, env, err := lineOf(t, append(args, "http://h")...)
	if err == nil {
		header, again, err = ReadHeaders(r.Line, env, "")
	}
	return header, again, err
}

// A file is read for each attempt. While the file is missing, empty or incomplete, its previous content stays
// in use, and the error reports the problem.
func TestRenewedHeaders(t *testing.T) {
	name := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		check(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("X-Key: 1\n")
	_, again, err := headersOf(t, "-H", "@"+name, "-H", "X-Other: x")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		text    string
		refused bool
		want    string
		says    string
	}{
		{"X-Key: 2\n", false, "2", ""},
		{"X-Key: 33\n", true, "33", ""},
		{"", false, "33", "token is empty"},
		{"X-Key: 4", false, "33", "its last line is not complete"},
		{"X-Key\n", false, "33", "a header needs a colon"},
		{"X-Key: 44\n", false, "44", ""},
	} {
		write(step.text)
		header, err := again(nil, step.refused)
		if header.Get("X-Key") != step.want || header.Get("X-Other") != "x" {
			t.Errorf("%q: have %v, want %s", step.text, header, step.want)
		}
		if (err == nil) != (step.says == "") || err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("%q: have %v, want %q", step.text, err, step.says)
		}
	}
	// A field that was removed from the file maps to nil, and is not sent.
	write("Authorization: new\n")
	header, err := again(nil, false)
	if err != nil {
		t.Error(err)
	}
	if values, named := header["X-Key"]; !named || len(values) != 0 || header.Get("Authorization") != "new" {
		t.Errorf("have %v, want no X-Key", header)
	}
}

// A file may end without a line break if its last line never had one.
func TestRenewedHeaders_withoutLineBreak(t *testing.T) {
	name := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		check(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("X-Key: 1")
	_, again, err := headersOf(t, "-H", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	write("X-Key: 2")
	if header, err := again(nil, false); header.Get("X-Key") != "2" || err != nil {
		t.Errorf("have %v and %v", header, err)
	}
}

// A token file may start with a byte order mark, or contain the whole value of the field.
func TestBearerFile(t *testing.T) {
	for _, text := range []string{"one\n", "\ufeffone\r\n", "Bearer one\n", "\ufeffBearer  one\n"} {
		name := filepath.Join(t.TempDir(), "token")
		check(t, os.WriteFile(name, []byte(text), 0o600))
		if header, _, err := headersOf(t, "--oauth2-bearer", "@"+name); header.Get("Authorization") != "Bearer one" || err != nil {
			t.Errorf("%q: have %v and %v", text, header, err)
		}
	}
}

// A token in a file is renewed. A header of -H takes precedence over the token.
func TestRenewedBearer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "token")
	for _, test := range []struct{ other, want, then string }{
		{"X-Other: x", "Bearer one", "Bearer two"},
		{"Authorization: mine", "mine", "mine"},
	} {
		check(t, os.WriteFile(name, []byte("one\n"), 0o600))
		header, again, err := headersOf(t, "-H", test.other, "--oauth2-bearer", "@"+name)
		if err != nil || strings.Join(header["Authorization"], ",") != test.want {
			t.Fatalf("have %v and %v, want %s", header, err, test.want)
		}
		check(t, os.WriteFile(name, []byte("two\n"), 0o600))
		if header, err = again(nil, true); err != nil || header.Get("Authorization") != test.then {
			t.Errorf("have %v and %v, want %s", header, err, test.then)
		}
	}
}

func TestRoutesAndProxy(t *testing.T) {
	for _, test := range []struct {
		flag, value, want string // "" for an error
	}{
		{"--resolve", "www.test:443:10.0.0.7", "www.test:443=10.0.0.7:443"},
		{"--resolve", "+www.test:443:10.0.0.7,[fe80::1]", "www.test:443=10.0.0.7:443,[fe80::1]:443"},
		{"--resolve", "*:443:10.0.0.7", ":443=10.0.0.7:443"},
		{"--resolve", "[::1]:443:fe80::1", "[::1]:443=[fe80::1]:443"},
		{"--resolve", "www.test.:443:10.0.0.7", "www.test:443=10.0.0.7:443"},
		{"--resolve", "bücher.test:443:10.0.0.7", ""},
		{"--connect-to", "www.test:443:bücher.test:443", ""},
		{"--resolve", "www.test:443", ""},
		{"--resolve", "www.test:443:other.test", ""},
		{"--connect-to", "www.test:443:other.test:8443", "www.test:443=other.test:8443"},
		{"--connect-to", "[::1]:443:[::2]:8443", "[::1]:443=[::2]:8443"},
		{"--connect-to", "www.test:443:other.test", ""},
		{"--connect-to", "a=b:443:other.test:443", ""},
		{"--connect-to", "[::1:443", ""},
		{"--resolve", "a]b:443:10.0.0.7", ""},
		{"-x", "proxy.test", "http://proxy.test:1080"},
		{"-x", "https://me:pw@proxy.test", "https://me:pw@proxy.test"},
		{"-x", "socks5h://[::1]", "socks5h://[::1]:1080"},
		{"-x", "", "direct"},
		{"-x", "ftp://proxy.test", ""},
		{"-x", "http://me:pw%@proxy.test", ""},
	} {
		var have string
		s, _, err := lineOf(t, test.flag, test.value, "http://h")
		if err == nil {
			have = s.Connect.Proxy
			for from, to := range s.Connect.Routes {
				have += from + "=" + strings.Join(to, ",")
			}
		}
		if err != nil {
			have = ""
		}
		if have != test.want {
			t.Errorf("%s %s: have %q, want %q", test.flag, test.value, have, test.want)
		}
	}
}

// A limit of 0 means no limit, not the default of the library.
func TestMaxBody_none(t *testing.T) {
	if s, _, err := lineOf(t, "--max-body", "0", "http://h"); err != nil || s.HTTP.MaxBody < 1<<40 {
		t.Errorf("have %d and %v", s.HTTP.MaxBody, err)
	}
}

// lineOf parses arguments without environment variables.
func lineOf(t *testing.T, args ...string) (*Run, Env, error) {
	t.Helper()
	streams, _, _ := httpscript.Streams("")
	env, r := NewEnv(func(string) (string, bool) { return "", false }, streams), New()
	r.LookupEnv = env.Lookup
	r.Parse(args)
	for _, w := range r.Typed {
		r.Add(w.Flag, w.Text, "--"+w.Flag.Name, argv.Typed)
	}
	kinds, err := Classify(r.Line)
	if err = cmp.Or(r.Err, err); err != nil {
		return r, env, err
	}
	r, err = env.Complete(r, kinds)
	return r, env, err
}

// Each row of the manual explains a flag.
func TestManual(t *testing.T) {
	table := WaitFlags()
	for row := range strings.Lines(manual) {
		if name, _, isRow := strings.Cut(row, "\t"); isRow && table.Lookup(name) == nil {
			t.Errorf("the manual explains --%s, which is not a flag", name)
		}
	}
}

// A list may be empty only with --expect 0, which the library represents as -1.
func TestReadList_expect(t *testing.T) {
	for flag, want := range map[string]int{"": 0, "--expect=0": -1, "--expect=3": 3} {
		s, _, err := lineOf(t, append(strings.Fields(flag), "--each=.", "--until=.x", "http://h")...)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := s.ReadList(); err != nil || list.Expect != want {
			t.Errorf("%s: have %v, %v, want %d", flag, list.Expect, err, want)
		}
	}
}

// The settings of entries that all differ are not kept: a large file would need much memory.
func TestReader_manySettings(t *testing.T) {
	t.Parallel()
	const entries = 3 * mostShared
	name := filepath.Join(t.TempDir(), "targets.ndjson")
	var text strings.Builder
	for i := range entries {
		fmt.Fprintf(&text, `{"url": "http://h/%d", "timeout": "%dms"}`+"\n", i, 1000+i)
	}
	check(t, os.WriteFile(name, []byte(text.String()), 0o600))
	run, env, err := lineOf(t, "--targets", name)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(run, env)
	if err := r.Read(); err != nil || len(r.Targets) != entries || len(r.shared) > mostShared {
		t.Errorf("%d targets and %d common parts, error %v", len(r.Targets), len(r.shared), err)
	}
	for i, target := range r.Targets {
		if want := time.Duration(1000+i) * time.Millisecond; target.Poller.Timeout != want {
			t.Errorf("target %d has the timeout %v, want %v", i, target.Poller.Timeout, want)
		}
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
