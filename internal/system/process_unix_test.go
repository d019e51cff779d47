//go:build unix

package system

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// tellsStart reports whether startOf knows the start of a process on this system.
const tellsStart = runtime.GOOS == "linux" || runtime.GOOS == "darwin"

func TestWatchProcess(t *testing.T) {
	t.Parallel()
	child := exec.Command("cat")
	watchEnd(t, child, func() {})
	later, err := WatchProcess(child.Process.Pid)
	if err != nil || !later() {
		t.Errorf("a process that has ended is reported as running, error %v", err)
	}
}

// watchEnd starts child, calls ready, and watches child. Then watchEnd closes the stdin of child, which ends
// child.
func watchEnd(t *testing.T, child *exec.Cmd, ready func()) {
	t.Helper()
	stdin := must(child.StdinPipe())
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ready()
	hasEnded := must(WatchProcess(child.Process.Pid))
	if hasEnded() {
		t.Error("a process that runs is reported as ended")
	}
	stdin.Close()
	for tellsStart && !hasEnded() { // the end is seen before child.Wait
		time.Sleep(time.Millisecond)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if !hasEnded() {
		t.Error("a process that has ended is reported as running")
	}
}

func TestIsAlive(t *testing.T) {
	t.Parallel()
	pid := os.Getpid()
	if !isAlive(pid, startOf(pid)) || !isAlive(pid, "") {
		t.Error("this process is said to have ended")
	}
	if isAlive(pid, "1") && tellsStart {
		t.Error("a process is mistaken for an earlier one of that number")
	}
}

// A signal that is caught late prints a dump, or ends the program as intended.
func TestSignalsWithADumpAreCaughtFirst(t *testing.T) {
	t.Parallel()
	all := ending()
	if first, rest := all[0], all[len(all)-len(plain()):]; first != syscall.SIGQUIT || !slices.Equal(rest, plain()) {
		t.Errorf("have %v", all)
	}
}

func TestEchoIsNoSecondSignal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal syscall.Signal
		after  time.Duration
		want   bool
	}{
		"the same at once":  {syscall.SIGTERM, echoTime - 1, false},
		"the same later":    {syscall.SIGTERM, echoTime, true},
		"the other at once": {syscall.SIGINT, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			caught, second := make(chan os.Signal), make(chan struct{})
			go watch(caught, cancel, second)
			defer close(caught)
			caught <- syscall.SIGTERM
			<-ctx.Done()
			time.Sleep(test.after)
			caught <- test.signal
			synctest.Wait()
			have := false
			select {
			case <-second:
				have = true
			default:
			}
			if have != test.want {
				t.Errorf("%s: have %t, want %t", name, have, test.want)
			}
		})
	}
}

func TestReleaseEndsTheCatching(t *testing.T) {
	ctx, hurry, release := CatchSignals(t.Context())
	if ctx.Err() != nil {
		t.Fatal("the context is done at once")
	}
	release()
	if <-ctx.Done(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("have cause %v", context.Cause(ctx))
	}
	select {
	case <-hurry:
		t.Error("hurry is closed")
	default:
	}
}

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
