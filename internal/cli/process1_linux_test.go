package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/ui/term"
)

const (
	process1Helper     = "POLL_TEST_PROCESS1_HELPER"
	idleProcess1Helper = "POLL_TEST_IDLE_PROCESS1_HELPER"
)

// TestProcess1HelperProcess is the program of the following test: a wait whose attempts each leave a process.
// It prints how many processes were not reaped. Attempt 30 waits for the first 29 processes to end, and poll
// reaps them before attempt 31.
func TestProcess1HelperProcess(t *testing.T) {
	if os.Getenv(process1Helper) == "" {
		t.Skip("only for the other test")
	}
	streams, _, _ := term.Buffers("")
	streams.Out, streams.Err = os.Stdout, os.Stderr
	code := Run(context.Background(), Process{
		Args:    append(strings.Fields("-q --immediate --interval 1ms --max-attempts 31 -- sh -c"), "test $POLL_ATTEMPT != 30 || sleep 1; true & exit 1"),
		Lookup:  func(string) (string, bool) { return "", false },
		Streams: streams,
		release: func() {}, // as the process has it
	})
	left := 0
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil {
			break
		}
		left++
	}
	fmt.Println("process", os.Getpid(), "ended with", int(code), left)
	os.Exit(0)
}

func TestProcess1ReapsOrphans(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", os.Args[0], "-test.run=^TestProcess1HelperProcess$")
	cmd.Env = append(os.Environ(), process1Helper+"=1")
	out, err := cmd.CombinedOutput()
	var code, left int
	if _, after, ok := strings.Cut(string(out), "process 1 ended with "); !ok {
		t.Skipf("have %q and %v: no process namespace for us", out, err)
	} else if _, err := fmt.Sscan(after, &code, &left); err != nil {
		t.Fatal(err)
	}
	if most := 2; code != int(run.ExitAttempts) || left > most {
		t.Errorf("have exit code %d and %d processes left of 31, want %d and at most %d\n%s", code, left, run.ExitAttempts, most, out)
	}
}

// TestIdleProcess1HelperProcess is the program of the following test: it runs a wait whose command must be
// stopped, and reaps no processes itself.
func TestIdleProcess1HelperProcess(t *testing.T) {
	if os.Getenv(idleProcess1Helper) == "" {
		t.Skip("only for the other test")
	}
	began := time.Now()
	cmd := exec.Command("poll", "-q", "--grace", "1m", "--timeout", "1s", "--", "sh", "-c", "sleep 60 & wait")
	cmd.Run()
	fmt.Println("process", os.Getpid(), "had a wait that ended with", cmd.ProcessState.ExitCode(), time.Since(began).Milliseconds())
	os.Exit(0)
}

// A stopped command ends before its grace is over, even if process 1 does not reap processes.
func TestIdleProcess1(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("unshare", asProcess1(os.Args[0], "-test.run=^TestIdleProcess1HelperProcess$")...)
	cmd.Env = append(os.Environ(), idleProcess1Helper+"=1")
	out, err := cmd.CombinedOutput()
	var code, took int
	if _, after, ok := strings.Cut(string(out), "process 1 had a wait that ended with "); !ok {
		t.Skipf("have %q and %v: no process namespace for us", out, err)
	} else if _, err := fmt.Sscan(after, &code, &took); err != nil {
		t.Fatal(err)
	}
	if code != int(run.ExitTimeout) || took >= 60_000 {
		t.Errorf("have exit code %d after %d ms, want %d within the grace of 1m\n%s", code, took, run.ExitTimeout, out)
	}
}
