//go:build unix

package learn_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/learn"
)

// Others may write in the directory, too, and put something else in the place of
// the files.
func TestPlaceOfOthers(t *testing.T) {
	t.Parallel()
	victim := filepath.Join(t.TempDir(), "victim")
	for name, c := range map[string]struct {
		file string // in the directory
		put  func(path string) error
		read bool // what there is can be read
	}{
		"a pipe for the lock":    {".lock", func(p string) error { return syscall.Mkfifo(p, 0o600) }, true},
		"a link for the lock":    {".lock", func(p string) error { return os.Symlink(victim, p) }, true},
		"a pipe for the history": {"x.jsonl", func(p string) error { return syscall.Mkfifo(p, 0o600) }, false},
		"a link for the history": {"x.jsonl", func(p string) error { return os.Symlink(victim, p) }, false},
		"a link to nothing":      {"x.jsonl", func(p string) error { return os.Symlink(victim+"2", p) }, false},
		"a link to a device":     {"x.jsonl", func(p string) error { return os.Symlink("/dev/zero", p) }, false},
	} {
		s := learn.History{Dir: t.TempDir()}
		if err := os.WriteFile(victim, []byte("precious\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.put(filepath.Join(s.Dir, c.file)); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), "x", run(1)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: Append: %v, want that it is no regular file", name, err)
		}
		if _, _, err := s.Read("x"); (err == nil) != c.read {
			t.Errorf("%s: Read: %v", name, err)
		}
		if text, err := os.ReadFile(victim); string(text) != "precious\n" {
			t.Errorf("%s: the victim is %q, %v", name, text, err)
		}
		if _, err := os.Lstat(victim + "2"); err == nil {
			t.Errorf("%s: the victim was made", name)
		}
	}
}
