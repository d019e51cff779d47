//go:build unix

package fleet

import (
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limitFiles has this process take the disk for full.
func limitFiles() error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100})
}

// On a disk that is full, a process goes on alone, and the others share.
func TestDirectory_full(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, wrote := another(t, dir, fullVariable+"=1")
	if !strings.Contains(wrote, "file too large") || strings.Count(wrote, "note:") != 1 {
		t.Errorf("it wrote %q", wrote)
	}
	if f, notes := share(t, dir); sends(t, f, notes, 3) != "" {
		t.Error("what is left of it keeps others from sharing")
	}
}

// Who stands still with the lock in its hand keeps the others waiting for the bound, once.
func TestDirectory_stopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := share(t, dir)
	l := &Limiter{Fleet: f, PerSecond: 1e6, Known: true}
	cmd, _ := another(t, dir)
	defer cmd.Process.Signal(syscall.SIGCONT)
	for range 20 {
		cmd.Process.Signal(syscall.SIGSTOP)
		begun := time.Now()
		l.Confirm(l.Reserve("place"))
		if took := time.Since(begun); took > 10*bound {
			t.Fatalf("two calls took %s", took)
		}
		cmd.Process.Signal(syscall.SIGCONT)
	}
}

// On a disk that is full, a process asks alone.
func TestAnswers_full(t *testing.T) {
	t.Parallel()
	_, wrote := another(t, t.TempDir(), fullVariable+"=1", asksVariable+"=1")
	if strings.Count(wrote, "note:") != 1 || !strings.Contains(wrote, "file too large") {
		t.Errorf("it wrote %q", wrote)
	}
}
