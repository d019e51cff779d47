//go:build unix

package store_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/store"
)

// fill notes starts until the file may not grow any more. It exits with 0 if that was told, and
// was told again by all that came after.
func fill(path string) int {
	if err := limitFiles("2000"); err != nil {
		return 3
	}
	l, err := store.OpenLog(path)
	for n := 0; err == nil; n++ {
		if n > 100 {
			return 1
		}
		err = l.Start(starting(fmt.Sprint(n, strings.Repeat("x", 200))))
	}
	again := l.Start(starting("short"))
	if !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), "nothing was started: write job log "+path+": ") || !errors.Is(again, syscall.EFBIG) || !errors.Is(l.Close(), syscall.EFBIG) {
		return 2
	}
	return 0
}

// A start that could not be written leaves nothing, and nothing is written after it.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOBLOG_TEST_PATH="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(path)
	check(t, err)
	if !strings.HasSuffix(string(text), "\n") || len(text) > 2000 || len(text) < 1000 {
		t.Errorf("%d bytes: %q", len(text), text)
	}
	l := openLog(t, path)
	check(t, l.Close())
}

// A pipe must not be waited for.
func TestAPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	if _, err := store.OpenLog(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}
