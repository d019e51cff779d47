package system

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// WriteFile replaces the file. CheckFile, and a WriteFile that fails, leave all files as they were.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "picture.svg")
	for _, text := range []string{"older", "newer"} {
		if err := CheckFile(path); err != nil {
			t.Error(err)
		}
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Error(err)
		}
		if err := CheckFile(path); err != nil {
			t.Error(err)
		}
		wantFiles(t, dir, map[string]string{"picture.svg": text})
	}
	for _, bad := range []string{filepath.Join(path, "picture.svg"), filepath.Join(dir, "no", "picture.svg")} {
		wantNoWrite(t, dir, bad)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantNoWrite(t, dir, filepath.Join(dir, "folder"))
}

// wantNoWrite reports an error unless CheckFile and WriteFile fail for path. The error of WriteFile must not
// name a path in dir, which may be the path of a temporary file.
func wantNoWrite(t *testing.T, dir, path string) {
	t.Helper()
	checked := CheckFile(path)
	if err := WriteFile(path, nil); checked == nil || err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("%s: errors %v and %v", path, checked, err)
	}
}

// A new file has the same mode as a file that os.WriteFile creates.
func TestWriteFile_mode(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	if err := errors.Join(WriteFile(path, nil), os.WriteFile(other, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	have, _ := os.Stat(path)
	if want, _ := os.Stat(other); have.Mode() != want.Mode() {
		t.Errorf("have %v, want %v", have.Mode(), want.Mode())
	}
}

// wantFiles reports an error unless dir contains exactly the files want, by name and content.
func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries := must(os.ReadDir(dir))
	have := map[string]string{}
	for _, e := range entries {
		text := must(os.ReadFile(filepath.Join(dir, e.Name())))
		have[e.Name()] = string(text)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("files (-want +have):\n%s", diff)
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
