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
	// drainTime is the minimum time for reading the outputs after the program has ended, if another process holds the
	// outputs open. It suffices to read the bytes that the program has left in the pipes.
	drainTime = 200 * time.Millisecond
	// killTime is the longest wait for killed processes to end.
	killTime = 400 * time.Millisecond
)

// A child is the program that one attempt runs, together with the processes that the program has started. On
// Unix these processes are identified by the program's process group, on Windows by its job. In the foreground,
// the program shares the process group of poll.
type child struct {
	cmd      *exec.Cmd
	job      job
	group    bool // the program leads its own process group, so the ID of the group is the ID of the program's process
	outputs  outputs
	exited   chan struct{} // closed when the program has ended and has been reaped
	err      error         // error of cmd.Wait; valid when exited is closed
	finished chan struct{} // closed after exited, as soon as the outputs have ended or the grace has passed

	unkillable bool // some processes have survived kill
}

// run starts cmd, connects its input and outputs, and reads the outputs in the background. If cmd cannot be started,
// run closes all pipes and returns the error.
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
		cmd.WaitDelay = time.Millisecond // do not wait for the input once the program has ended
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

// wait waits until the program has ended, and closes exited. If other processes still hold the outputs open, it
// gives them time to finish: the duration grace-drainTime, because finish waits for drainTime afterwards. Then
// it closes finished. wait runs in its own goroutine. The attempt's own goroutine is locked to a thread, so
// each wakeup is expensive: that goroutine wakes up only once, when finished is closed.
func (c *child) wait(grace time.Duration) {
	c.err = c.cmd.Wait()
	close(c.exited)
	select {
	case <-c.outputs.done:
	case <-time.After(grace - drainTime):
	}
	close(c.finished)
}

// isClosed reports whether the channel c is closed. No value must ever be sent to c.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// attend waits until the program and its outputs have ended. If ctx is done before the program has ended, attend
// stops the program and returns true. Otherwise it returns false. Processes that still hold the outputs open after
// the program has ended are stopped, too.
func (s *Session) attend(ctx context.Context, c *child) (stopped bool) {
	select {
	case <-c.finished:
	case <-ctx.Done():
		if !isClosed(c.exited) { // if the program has already ended, its result counts, even if ctx is done
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

// stop ends the program and its process group. First it sends them a signal to terminate. After the grace it
// kills the processes that are left. If the grace is 0, or if the signal cannot be sent, it kills all of them
// at once. stop sets c.unkillable if processes survive.
func (s *Session) stop(ctx context.Context, c *child) {
	if s.Grace > 0 && c.terminate() && c.gone(s.Grace, connect.CallerOf(ctx).Hurry) {
		return
	}
	c.kill()
	if !c.gone(killTime, nil) {
		// A process survives if it belongs to another user, or is stuck in the kernel. A process that has ended stays
		// in the group until its parent reaps it, but then kill reports no error.
		c.unkillable = !isClosed(c.exited) || errors.Is(c.kill(), fs.ErrPermission)
	}
}

// gone waits until the program has ended and its process group is empty, and then returns true. It returns false
// after the duration d, or when hurry is closed. For each value that it receives from hurry, it sends the signal to
// terminate again.
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
		// The system does not report when a group becomes empty, so gone polls the group. The first polls follow each
		// other quickly, since most groups end at once.
		if c.empty() {
			return true
		}
		next = time.After(time.Millisecond << min(polls, 5))
	}
}
