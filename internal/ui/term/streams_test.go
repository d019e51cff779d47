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

func TestSystem(t *testing.T) {
	t.Parallel()
	s := System(env(map[string]string{"TERM": "dumb", "NO_COLOR": "1", "LANG": "de_DE.UTF-8", "LC_ALL": "C"}))
	if !s.Dumb || !s.NoColor || s.Unicode {
		t.Errorf("dumb %v, no colour %v, unicode %v; want true, true, false", s.Dumb, s.NoColor, s.Unicode)
	}
	if out, ok := s.Out.(*output); s.In != os.Stdin || !ok || out.w != os.Stdout {
		t.Error("the streams are not the process's")
	}
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

// A file is no terminal: its width is unknown and nothing forbids to write.
func TestTerminalOfFile(t *testing.T) {
	t.Parallel()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w := size(int(f.Fd()), 0); w != 0 {
		t.Errorf("width %d, want 0", w)
	}
	if !inForeground(int(f.Fd())) {
		t.Error("a file forbids to write")
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
