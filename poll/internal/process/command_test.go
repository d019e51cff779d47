package process

import (
	"context"
	"testing"
)

// wantComplete runs c several times. c writes "answer" and exits with 5. A program that has ended before the context was
// done has a result, even if attend sees both events at the same time. wantComplete returns the process ID of the last
// program.
func wantComplete(t *testing.T, c Command, times int) (pid int) {
	t.Helper()
	s := NewSession(c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range times {
		c, failure := s.start(1, nil)
		if failure != nil {
			t.Fatal(failure.Reason)
		}
		<-c.exited
		if stopped := s.attend(ctx, c); stopped || c.cmd.ProcessState.ExitCode() != 5 {
			t.Fatalf("have %v, %s, want exit 5", stopped, c.cmd.ProcessState)
		}
		if body := c.outputs.stdout.kept; string(body) != "answer\n" {
			t.Fatalf("have %q, want the answer", body)
		}
		c.release()
		pid = c.cmd.Process.Pid
	}
	return pid
}
