//go:build unix

package fleet

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	whereVariable = "FLEET_TEST_SHARE"
	fullVariable  = "FLEET_TEST_FULL"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(whereVariable); where != "" {
		os.Exit(takePart(where))
	}
	m.Run()
}

// takePart takes slots until stdin ends, and writes its notes. It writes a line once it has
// had one.
func takePart(where string) int {
	if os.Getenv(fullVariable) != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100}); err != nil {
			return 3
		}
	}
	f, err := Open(where, Options{Note: func(note string) { fmt.Println("note:", note) }})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	l := &Limiter{Fleet: f, PerSecond: 1e6, Known: true}
	for n := 0; ; n++ {
		if !l.Confirm(l.Reserve("place")) {
			return 1
		}
		if n == 100 {
			fmt.Println("ready")
		}
	}
}

// another starts a process that takes part. It returns what it wrote until it was ready.
func another(t *testing.T, where string, env ...string) (cmd *exec.Cmd, wrote string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), whereVariable+"="+where), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	for buffer := make([]byte, 1000); !strings.HasSuffix(wrote, "ready\n"); {
		n, err := stdout.Read(buffer)
		wrote += string(buffer[:n])
		if err != nil {
			t.Fatalf("%v behind %q", err, wrote)
		}
	}
	return cmd, wrote
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

// Who is killed at any moment keeps nobody waiting, and leaves a record that is whole.
func TestDirectory_killed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, notes := share(t, dir)
	for range 5 {
		cmd, wrote := another(t, dir)
		cmd.Process.Kill()
		if note := sends(t, f, notes, 2); note != "" || strings.Contains(wrote, "note:") {
			t.Errorf("told %q and %q", note, wrote)
		}
		if limits, err := f.List(t.Context()); err != nil || len(limits) != 1 {
			t.Errorf("%+v, %v", limits, err)
		}
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
