package process

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"time"

	"github.com/pollcli/poll/internal/connect"
)

const (
	// drainTime is how long the outputs are read at least when somebody holds them open
	// after the end of the program: what the program wrote is in the pipes by then.
	drainTime = 200 * time.Millisecond
	// killTime is how long killed processes are waited for.
	killTime = 400 * time.Millisecond
)

// A child is the program of one attempt, with its process group if it has its own.
type child struct {
	cmd      *exec.Cmd
	job      job
	group    bool // it leads a process group, whose number is its own
	outputs  outputs
	exited   chan struct{} // closed when the program has ended and was reaped
	err      error         // of waiting for it, once exited is closed
	finished chan struct{} // closed when it has ended, and its outputs have, or had the grace to

	unkillable bool
}

// run starts cmd with its input and outputs connected.
func (s *Session) run(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, group: !s.Foreground, exited: make(chan struct{}), finished: make(chan struct{})}
	c.outputs.done = make(chan struct{})
	c.outputs.stdout.limit, c.outputs.both.limit = s.MaxBody, s.MaxBody
	c.outputs.both.kept, c.outputs.stderr.also = []byte{}, s.Stderr
	if s.Stream {
		c.outputs.chunks, c.outputs.unheard = make(chan chunk), make(chan struct{})
	}
	if len(s.Stdin) > 0 {
		cmd.Stdin = bytes.NewReader(s.Stdin)
		cmd.WaitDelay = time.Millisecond // a program that has ended needs no more input
	}
	writers, err := c.outputs.connect(cmd)
	if err == nil {
		c.job, err = launch(cmd)
	}
	closeAll(writers)
	if err != nil {
		closeAll(c.outputs.readers)
		return nil, err
	}
	go c.outputs.read()
	go c.wait(s.Grace)
	return c, nil
}

// wait reaps the program, and gives other processes that hold its outputs open some time to finish. The
// goroutine of the attempt has a thread of its own, and is woken once.
func (c *child) wait(grace time.Duration) {
	c.err = c.cmd.Wait()
	close(c.exited)
	select {
	case <-c.outputs.done:
	case <-time.After(grace - drainTime):
	}
	close(c.finished)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// attend waits until the program has ended, or stops it if ctx is done before that, which
// it reports.
func (s *Session) attend(ctx context.Context, c *child) (stopped bool) {
	select {
	case <-c.finished:
	case <-ctx.Done():
		if !isClosed(c.exited) { // both may have happened
			s.stop(ctx, c)
			c.outputs.finish()
			c.outputs.open = [2]bool{true, true}
			return true
		}
	}
	c.outputs.finish()
	if c.outputs.isHeld() {
		s.stop(ctx, c)
	}
	return false
}

// stop ends the program and its group. Who cannot be asked gets no time to end.
func (s *Session) stop(ctx context.Context, c *child) {
	if s.Grace > 0 && c.terminate() && c.gone(s.Grace, connect.CallerOf(ctx).Hurry) {
		return
	}
	c.kill()
	if !c.gone(killTime, nil) {
		// Another user's process survives that, and one that is stuck in the kernel. One
		// that has ended may be left in the group until its parent reaps it.
		c.unkillable = !isClosed(c.exited) || errors.Is(c.kill(), fs.ErrPermission)
	}
}

// gone waits until the program has ended and its group is empty. A value from hurry asks
// them again to end. It reports false when d has passed or hurry is closed.
func (c *child) gone(d time.Duration, hurry <-chan struct{}) bool {
	enough := time.After(d)
	exited, look := c.exited, (<-chan time.Time)(nil)
	for looks := 0; ; {
		select {
		case <-exited:
			exited = nil
		case <-look:
			looks++
		case <-enough:
			return false
		case _, open := <-hurry:
			if !open {
				return false
			}
			c.terminate()
			continue
		}
		// Nothing reports when a group becomes empty, so it is looked at, often at first: most
		// end at once.
		if c.empty() {
			return true
		}
		look = time.After(time.Millisecond << min(looks, 5))
	}
}
