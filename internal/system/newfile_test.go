package system

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What fails half-way leaves what was there before.
func TestNewFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "picture.svg")
	write := func(failed error) error {
		f, err := create(path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, "half a pict")
		return f.end(failed)
	}
	broken := errors.New("broken")
	if err := write(broken); !errors.Is(err, broken) {
		t.Errorf("have %v, want %v", err, broken)
	}
	wantFiles(t, dir, map[string]string{})
	if err := WriteFile(path, []byte("older")); err != nil {
		t.Fatal(err)
	}
	write(broken)
	if err := CheckFile(path); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, map[string]string{"picture.svg": "older"})
	if err := write(nil); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, map[string]string{"picture.svg": "half a pict"})
}

// A new file has the mode of any other.
func TestNewFile_mode(t *testing.T) {
	t.Parallel()
	path, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	if err := errors.Join(WriteFile(path, nil), os.WriteFile(other, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	have, _ := os.Stat(path)
	if want, _ := os.Stat(other); have.Mode() != want.Mode() {
		t.Errorf("have %v, want %v", have.Mode(), want.Mode())
	}
}

func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		have[e.Name()] = string(text)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("files (-want +have):\n%s", diff)
	}
}
