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

// What is written to a pipe shows piece by piece, and a file gets all at once.
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
	if _, err := newOutput(w).Write([]byte("x")); err == nil {
		t.Error("nobody reads, and there is no error")
	}
	for out, want := range map[*output][]int64{newOutput(file): {0}, newOutput(w): {0, 4096, 8192}} {
		var have []int64
		out.w = writerFunc(func(p []byte) (int, error) {
			have = append(have, out.written.Load())
			return len(p), nil
		})
		if n, err := out.Write(make([]byte, 9000)); n != 9000 || err != nil || out.written.Load() != 9000 || !slices.Equal(have, want) {
			t.Errorf("%d bytes, error %v, in pieces from %v, want %v", n, err, have, want)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
