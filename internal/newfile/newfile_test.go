package newfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What fails half-way leaves what was there before.
func TestWrite_fails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "picture.svg")
	if err := os.WriteFile(path, []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, "half a pict")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("have %v, want %v", err, broken)
	}
	wantFiles(t, dir, map[string]string{"picture.svg": "older"})
}

func TestNewFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "picture.svg")
	discarded, err := createFile(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(discarded, "not this")
	discarded.discard()
	wantFiles(t, dir, map[string]string{})

	kept, err := createFile(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(kept, "this")
	if err := kept.commit(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]string{"picture.svg": "this"})
}

// An error does not speak of the name that a file has until it is whole.
func TestNewFile_errors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := createFile(filepath.Join(dir, "no", "picture.svg")); !errors.Is(err, fs.ErrNotExist) || pathOf(err) != "" {
		t.Errorf("have %v, want the cause alone", err)
	}
	f, err := createFile(filepath.Join(dir, "picture.svg"))
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(f.Name())
	if err := f.commit(); !errors.Is(err, fs.ErrNotExist) || pathOf(err) != "" {
		t.Errorf("have %v, want the cause alone", err)
	}
}

func pathOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Path
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Old
	}
	return ""
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
