package read

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// headersOf returns the header for values, and the function that reads the files again.
func headersOf(t *testing.T, args ...string) (header http.Header, again refresh, err error) {
	t.Helper()
	r, env, err := lineOf(t, append(args, "http://h")...)
	if err == nil {
		header, again, err = ReadHeaders(r.Line, env, r.Header, r.Bearer, "")
	}
	return header, again, err
}

// A file is read for each attempt. While the file is missing, empty or incomplete, its previous content stays
// in use, and the error reports the problem.
func TestRenewedHeaders(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	t.Parallel()
	name := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	// A new file without a final line break may be incomplete, also on the first read.
	for _, read := range []func() (http.Header, error){
		func() (http.Header, error) { return again(nil, false) },
		func() (http.Header, error) {
			header, _, err := headersOf(t, "-H", "@"+name)
			return header, err
		},
	} {
		write("X-Key: 12")
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Hour)); err != nil { // the file stays new
			t.Fatal(err)
		}
		time.AfterFunc(minAge/2, func() {
			os.WriteFile(name+".new", []byte("X-Key: 1234\n"), 0o600)
			os.Rename(name+".new", name) // readers never see an empty file
		})
		if header, err := read(); header.Get("X-Key") != "1234" || err != nil {
			t.Errorf("have %v and %v", header, err)
		}
	}
}

// A token file may start with a byte order mark, or contain the whole value of the field.
func TestBearerFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one\n", "\ufeffone\r\n", "Bearer one\n", "\ufeffBearer  one\n"} {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if header, _, err := headersOf(t, "--oauth2-bearer", "@"+name); header.Get("Authorization") != "Bearer one" || err != nil {
			t.Errorf("%q: have %v and %v", text, header, err)
		}
	}
}

// A token in a file is renewed. A header of -H takes precedence over the token.
func TestRenewedBearer(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "token")
	for _, test := range []struct{ other, want, then string }{
		{"X-Other: x", "Bearer one", "Bearer two"},
		{"Authorization: mine", "mine", "mine"},
	} {
		if err := os.WriteFile(name, []byte("one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		header, again, err := headersOf(t, "-H", test.other, "--oauth2-bearer", "@"+name)
		if err != nil || strings.Join(header["Authorization"], ",") != test.want {
			t.Fatalf("have %v and %v, want %s", header, err, test.want)
		}
		if err := os.WriteFile(name, []byte("two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if header, err = again(nil, true); err != nil || header.Get("Authorization") != test.then {
			t.Errorf("have %v and %v, want %s", header, err, test.then)
		}
	}
}
