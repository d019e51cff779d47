//go:build unix

package fleet

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
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
	if _, wrote := another(t, dir, fullVariable+"=1"); !strings.Contains(wrote, "file too large") || strings.Count(wrote, "note:") != 1 {
		t.Errorf("it wrote %q", wrote)
	}
	if f, notes := open(t, dir); sends(f, notes, 3) != "" {
		t.Error("what is left of it keeps others from sharing")
	}
}

// A server that stands still keeps a call waiting for no longer than the bound, and each
// goes on at its pace until the server does.
func TestRedis_paused(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	f, notes := open(t, s.url)
	if note := sends(f, notes, 20); note != "" {
		t.Fatal(note)
	}
	f.opened = time.Now().Add(-time.Minute)
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer s.process.Signal(syscall.SIGCONT)
	begun := time.Now()
	f.Done("place", poll.Feedback{Sent: begun, Refused: true})
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("a call took %s", took)
	}
	if note := sends(f, notes, 1); !strings.HasSuffix(note, "it does not answer in time") {
		t.Errorf("told %q", note)
	}
	s.process.Signal(syscall.SIGCONT)
	awaitUp(t, f)
}

// The directory of another user is none for root, either.
func TestDirectory_ofAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, -1); err != nil {
		t.Skip(err)
	}
	if _, err := openDirectory(dir); err == nil {
		t.Error("it is used")
	}
}
