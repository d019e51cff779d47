//go:build unix

package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
)

// fullVariable names the directory of a process that cannot write more than 100 bytes to a file.
const fullVariable = "FLEET_TEST_FULL"

func TestMain(m *testing.M) {
	dir := os.Getenv(fullVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGXFSZ)
	err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100})
	f, opened := Open(dir, Options{PerSecond: 1000, Known: true, Note: func(note string) { fmt.Println("note:", note) }})
	if err = errors.Join(err, opened); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	sends(f, nil, 3)
}

// On a full disk, a process continues alone, and the other processes share.
func TestDirectory_full(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullVariable+"="+dir)
	wrote, err := cmd.Output()
	if text := string(wrote); err != nil || !strings.Contains(text, "file too large") || strings.Count(text, "note:") != 1 {
		t.Errorf("%v: it wrote %q", err, text)
	}
	if f, notes := open(t, dir); sends(f, notes, 3) != "" {
		t.Error("the rest of a record keeps others from sharing")
	}
}

// A stopped server delays a call only up to the bound. Each process continues at its rate until the server
// continues.
func TestRedis_paused(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	f, notes := open(t, s.url)
	if note := sends(f, notes, 20); note != "" {
		t.Fatal(note)
	}
	f.opened = time.Now().Add(-time.Minute)
	check(t, s.process.Signal(syscall.SIGSTOP))
	defer s.process.Signal(syscall.SIGCONT)
	begun := time.Now()
	f.Done("place", poll.Feedback{Sent: begun, Refused: true})
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("a call took %s", took)
	}
	if note := sends(f, notes, 1); !strings.HasSuffix(note, "no response in time") {
		t.Errorf("told %q", note)
	}
	s.process.Signal(syscall.SIGCONT)
	awaitUp(t, f)
}

// The directory of another user is rejected, also for root.
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
