package term

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func env(pairs map[string]string) func(string) string {
	return func(k string) string { return pairs[k] }
}

func TestUnicodeLocale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, false},
		{map[string]string{"LANG": "C", "LC_ALL": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "C"}, false},
	}
	for _, test := range tests {
		if have := unicodeLocale(env(test.env)); have != test.want {
			t.Errorf("%v: have %v, want %v", test.env, have, test.want)
		}
	}
}

// A pipe gets the output piece by piece, and a file gets it all at once.
func TestOutput(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	if _, err := newOutput(w, func() {}).Write([]byte("x")); err == nil {
		t.Error("nobody reads, and there is no error")
	}
	for f, want := range map[*os.File][]int{file: {9000}, w: {4096, 4096, 808}} {
		var have []int
		told := 0
		out := newOutput(f, func() { told++ })
		out.w = writerFunc(func(p []byte) (int, error) {
			have = append(have, len(p))
			return len(p), nil
		})
		if n, err := out.Write(make([]byte, 9000)); n != 9000 || err != nil || told != len(want) || !slices.Equal(have, want) {
			t.Errorf("%d bytes, error %v, in pieces of %v, want %v; told of %d", n, err, have, want, told)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
