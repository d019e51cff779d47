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
	// drainTime is the shortest time for which the outputs are read after the end of the program, if another process
	// holds them open. It suffices to read the bytes that the program left in the pipes.
	drainTime = 200 * time.Millisecond
	// killTime limits the wait for the end of killed processes.
	killTime = 400 * time.Millisecond
)

// A child is the program of one attempt, with its process group (on Windows: its job), if it has a group of its own.
type child struct {
	cmd      *exec.Cmd
	job      job
	group    bool // the program leads a process group: the ID of the group is the ID of the process
	outputs  outputs
	exited   chan struct{} // closed when the program has ended and was reaped
	err      error         // error of cmd.Wait, valid after exited is closed
	finished chan struct{} // closed when the program has ended, and the outputs have ended or the grace has passed

	unkillable bool // processes survived kill
}

// run starts cmd, connects its input and outputs, and reads the outputs in the background. It returns the error of the
// start, with all pipes closed.
func (s *Session) run(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, group: !s.Foreground, exited: make(chan struct{}), finished: make(chan struct{})}
	c.outputs.done = make(chan struct{})
	c.outputs.stdout.limit, c.outputs.both.limit = s.MaxBody, s.MaxBody
	c.outputs.both.kept, c.outputs.stderr.also = []byte{}, s.Stderr
	if s.Stream {
		c.outputs.chunks, c.outputs.unread = make(chan chunk), make(chan struct{})
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

// wait waits for the end of the program, and closes exited. Then it gives other processes that hold the outputs open
// the time grace, less drainTime, to finish, and closes finished. It runs in its own goroutine: the goroutine of the
// attempt is locked to a thread, and finished wakes it only once.
func (c *child) wait(grace time.Duration) {
	c.err = c.cmd.Wait()
	close(c.exited)
	select {
	case <-c.outputs.done:
	case <-time.After(grace - drainTime):
	}
	close(c.finished)
}

// isClosed reports whether c, which never has a value, is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// attend waits for the end of the program and of its outputs. If ctx is done before the program has ended, attend stops
// the program and returns true. If the program has ended but other processes hold its outputs open, attend stops
// these processes and returns false.
func (s *Session) attend(ctx context.Context, c *child) (stopped bool) {
	select {
	case <-c.finished:
	case <-ctx.Done():
		if !isClosed(c.exited) { // a program that has ended has a result, even if ctx is also done
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

// stop ends the program and its group. It sends a signal first, and kills the processes that are left after the grace. It
// kills at once if there is no grace, or if the signal cannot be sent. It sets c.unkillable if processes survive.
func (s *Session) stop(ctx context.Context, c *child) {
	if s.Grace > 0 && c.terminate() && c.gone(s.Grace, connect.CallerOf(ctx).Hurry) {
		return
	}
	c.kill()
	if !c.gone(killTime, nil) {
		// A process of another user, or a process that is stuck in the kernel, survives. A process that has ended may
		// stay in the group until its parent reaps it: kill then reports no error.
		c.unkillable = !isClosed(c.exited) || errors.Is(c.kill(), fs.ErrPermission)
	}
}

// gone waits until the program has ended and its group is empty, and returns true. It returns false if that takes
// longer than d, or if hurry is closed. For each value from hurry it sends the signal to terminate again.
func (c *child) gone(d time.Duration, hurry <-chan struct{}) bool {
	enough := time.After(d)
	exited, next := c.exited, (<-chan time.Time)(nil)
	for polls := 0; ; {
		select {
		case <-exited:
			exited = nil
		case <-next:
			polls++
		case <-enough:
			return false
		case _, open := <-hurry:
			if !open {
				return false
			}
			c.terminate()
			continue
		}
		// The system does not report that a group has become empty, so gone polls the group. The first checks follow
		// each other quickly, since most groups end at once.
		if c.empty() {
			return true
		}
		next = time.After(time.Millisecond << min(polls, 5))
	}
}
