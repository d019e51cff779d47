//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
)

// TestCrashHelperProcess is a program that crashes.
func TestCrashHelperProcess(t *testing.T) {
	mode := os.Getenv(crashHelper)
	if mode == "" {
		t.Skip("only for the other test")
	}
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	Main(Process{Streams: term.System(os.Getenv), Lookup: func(string) (string, bool) {
		if mode == "panic" {
			panic("a panic")
		}
		new(sync.Mutex).Unlock() // recover cannot catch this error
		return "", false
	}})
}

// A crash does not end with exit code 2, which means that nothing was attempted.
func TestCrashIsADeath(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"fatal": "fatal error: sync: unlock", "panic": "panic: a panic"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashHelperProcess$")
		cmd.Env = append(os.Environ(), crashHelper+"="+mode)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Run()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
			t.Errorf("%s: have wait status %#x, want a death by SIGABRT without a core", mode, status)
		}
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: have %q on stderr, want %q", mode, &stderr, want)
		}
	}
}
