//go:build unix

package joblog_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/joblog"
)

const limitVariable = "JOBLOG_TEST_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(limitVariable); path != "" {
		os.Exit(fill(path))
	}
	m.Run()
}

// openLimited opens a log that may have so many bytes, any number if that is 0.
func openLimited(path string, most uint64) (*joblog.Log, error) {
	if most > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return nil, err
		}
	}
	return joblog.Open(path)
}

// fill writes lines until the file may not grow any more. It exits with 0 if that was told,
// and shorter lines still go in.
func fill(path string) int {
	signal.Ignore(syscall.SIGXFSZ)
	l, err := openLimited(path, 2000)
	for n := 0; err == nil; n++ {
		if n > 100 {
			return 1
		}
		err = l.Start(starting(strings.Repeat("x", 200)))
	}
	if !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), "write job log "+path+": ") {
		return 2
	}
	return 0
}

// A line that was written in half because the disk is full is cut off.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), limitVariable+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(path)
	check(t, err)
	if !strings.HasSuffix(string(text), "\n") || len(text) > 2000 || len(text) < 1000 {
		t.Errorf("%d bytes: %q", len(text), text)
	}
	l := open(t, path)
	check(t, l.Close())
}

// A pipe must not be waited for.
func TestAPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	if _, err := openLimited(path, 0); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}
