//go:build unix

package poll

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
)

// A program that has ended before the context was done has answered, even if
// both are known only later.
func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := newCommandSession(Command{Args: []string{"sh", "-c", "echo answer; exit 5"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a select with two choices takes either
		c, failure := s.start(Attempt{Number: 1})
		if failure != nil {
			t.Fatal(failure.Reason)
		}
		<-c.exited
		if stopped := s.attend(ctx, c); stopped != nil || c.exit != 5 {
			t.Fatalf("have %v, exit %d, want exit 5", stopped, c.exit)
		}
		if body, _ := s.outputs.stdout.take(); string(body) != "answer\n" {
			t.Fatalf("have %q, want the answer", body)
		}
		c.release()
	}
}

func startGroup(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = sysProcAttr(true)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	return cmd
}
