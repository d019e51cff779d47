//go:build unix

package system

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// OpenOwn and Lock reject a file that another user of the directory may have put there.
func TestOpenOwn(t *testing.T) {
	t.Parallel()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"a pipe":            func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a link":            func(p string) error { return os.Symlink(victim, p) },
		"a link to nothing": func(p string) error { return os.Symlink(victim+"2", p) },
		"a directory":       func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE} {
			if f, err := OpenOwn(path, flag); err == nil {
				t.Errorf("%s is opened as %s", name, f.Name())
			}
		}
		if _, err := Lock(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: locked, with error %v", name, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(entries) != 1 {
		t.Errorf("the files are %v, %v", entries, err)
	}
	if text, err := os.ReadFile(victim); string(text) != "precious\n" {
		t.Errorf("the file of another is %q, %v", text, err)
	}
}
