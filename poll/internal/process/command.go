// Package process runs the program of a command again and again: it captures what
// the program writes, and ends it with all that it has started.
package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/status"
)

// errWantsTerminal ends an attempt whose program waits for a terminal that it
// cannot have.
var errWantsTerminal = errors.New("stopped because it wants the terminal")

// A Command is what poll.Command is.
type Command struct {
	Args        []string
	Dir         string
	Env         []string
	Stdin       []byte
	Foreground  bool
	Grace       time.Duration
	MaxBody     int64
	Stderr      io.Writer
	ReapOrphans bool
	Hurry       <-chan struct{}
}

const (
	// DefaultGrace is the Grace of a Command whose Grace is zero.
	DefaultGrace = 2 * time.Second
	// defaultMaxBody is the MaxBody of one whose MaxBody is zero.
	defaultMaxBody = 64 << 20
)

// Session returns what keeps the buffers of a command, and the place where its
// program was found, from one attempt to the next.
func (c Command) Session() *Session { return newSession(c) }

// grace is the Grace with its default; 0 is none.
func (c Command) grace() time.Duration {
	if c.Grace == 0 {
		return DefaultGrace
	}
	return max(c.Grace, 0)
}

// An Attempt is what a program is told about its execution.
type Attempt struct {
	Number   int
	Elapsed  time.Duration
	Previous status.Status
	LastLook bool
}

// A Session is a command in one run.
type Session struct {
	Command
	path    string // of the program, "" before it was looked for
	environ []string
	outputs outputs
	drains  time.Duration // what drainTime is here
}

func newSession(c Command) *Session {
	s := &Session{Command: c, drains: drainTime}
	if s.MaxBody <= 0 {
		s.MaxBody = defaultMaxBody
	}
	// Environ knows what the system needs besides: PWD, SYSTEMROOT.
	s.environ = slices.DeleteFunc((&exec.Cmd{Dir: c.Dir, Env: c.Env}).Environ(), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return key == "POLL_ATTEMPT" || key == "POLL_ELAPSED" || key == "POLL_STATUS"
	})
	return s
}

// Probe runs the command once.
func (s *Session) Probe(ctx context.Context, a Attempt) status.Observation {
	obs := status.Observation{Kind: status.KindCommand}
	began := time.Now()
	if ctx.Err() != nil {
		obs.Failure = whyStopped(ctx, began, context.Cause(ctx))
		return obs
	}
	if s.ReapOrphans {
		new(child).reapOrphans()
	}
	// The program ends with this thread (see endWithThread), so nobody else may
	// lock and end it meanwhile.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, failure := s.start(a)
	if failure != nil {
		obs.Failure = failure
		return obs
	}
	defer c.release()
	stopped := s.attend(ctx, c)
	obs.Body, obs.Size = s.outputs.stdout.take()
	obs.Truncated = obs.Size > int64(len(obs.Body))
	obs.Stderr = s.outputs.stderr.take()
	switch {
	case stopped != nil:
		obs.Failure = whyStopped(ctx, began, stopped)
	case c.err != nil:
		obs.Failure = &status.Failure{Reason: "its exit code was lost", Err: c.err}
	default:
		obs.Exit, obs.Signal = &c.exit, c.signal
	}
	if c.immortal {
		obs.Remarks = append(obs.Remarks, s.name()+" could not be killed")
	}
	return obs
}

// start starts the program and the copying of its outputs.
func (s *Session) start(a Attempt) (*child, *status.Failure) {
	if s.path == "" {
		path, failure := s.look()
		if failure != nil {
			if a.Number > 1 {
				failure.Kind = status.FailureTransient
			}
			return nil, failure
		}
		s.path = path
	}
	cmd := &exec.Cmd{
		Path:        s.path,
		Args:        s.Args,
		Dir:         s.Dir,
		Env:         s.environment(a),
		SysProcAttr: sysProcAttr(!s.Foreground),
	}
	if err := s.outputs.start(cmd, s.Command); err != nil {
		failure := s.whyNotStarted(s.path, a, err)
		s.path = "" // it may have moved
		return nil, failure
	}
	return newChild(cmd.Process, !s.Foreground), nil
}

// environment returns the environment of one attempt.
func (s *Session) environment(a Attempt) []string {
	return append(slices.Clip(s.environ),
		"POLL_ATTEMPT="+strconv.Itoa(a.Number),
		"POLL_ELAPSED="+strconv.FormatInt(int64(a.Elapsed/time.Second), 10),
		"POLL_STATUS="+a.Previous.String())
}

// reapInterval is the time between two looks for orphans during an attempt.
const reapInterval = time.Second

// attend waits for the end of the attempt, or brings it about. It returns why
// it had to; nil means that the program has ended by itself.
func (s *Session) attend(ctx context.Context, c *child) (stopped error) {
	var orphans <-chan time.Time
	if s.ReapOrphans {
		ticker := time.NewTicker(reapInterval)
		defer ticker.Stop()
		orphans = ticker.C
	}
	for waiting := true; waiting; {
		waiting = false
		select {
		case <-c.exited:
		case <-c.terminal:
			stopped = errWantsTerminal
		case <-ctx.Done():
			// Both may have happened. What was complete before, stays complete.
			if !c.ended() {
				stopped = context.Cause(ctx)
			}
		case <-orphans:
			c.reapOrphans()
			waiting = true
		}
	}
	if stopped != nil {
		s.stop(c)
		s.outputs.cut()
		return stopped
	}
	<-c.exited
	s.settle(ctx, c)
	return nil
}

// settle ends the attempt of a program that has ended: what it wrote is read,
// and whoever holds its outputs open gets some time to finish, but is stopped
// if the context is done meanwhile.
func (s *Session) settle(ctx context.Context, c *child) {
	grace, drained := time.NewTimer(s.grace()), time.NewTimer(s.drains)
	defer grace.Stop()
	defer drained.Stop()
	select {
	case <-s.outputs.done:
	case <-grace.C:
	case <-ctx.Done():
	}
	select {
	case <-s.outputs.done:
	case <-drained.C:
	}
	if held := s.outputs.cut(); held && ctx.Err() != nil {
		s.stop(c)
	}
}

// stop ends the program and its group.
func (s *Session) stop(c *child) {
	if grace := s.grace(); grace > 0 {
		c.terminate()
		if c.gone(grace, s.Hurry) {
			return
		}
	}
	c.kill()
	// Nobody survives that but a process of another user, or one that sits in
	// the kernel and cannot be waited for.
	c.immortal = !c.gone(time.Second, nil)
}

// whyStopped says why an attempt that began then has no answer.
func whyStopped(ctx context.Context, began time.Time, why error) *status.Failure {
	switch {
	case errors.Is(why, errWantsTerminal):
		return &status.Failure{
			Kind: status.FailureHopeless, Reason: why.Error(), Err: why, Advice: status.Advice{Code: status.AdviceTerminal},
		}
	case errors.Is(why, cause.ErrAttemptTimeout):
		reason := cause.ErrAttemptTimeout.Error()
		if deadline, ok := ctx.Deadline(); ok {
			reason += " after " + words.Short(deadline.Sub(began))
		}
		return &status.Failure{Kind: status.FailureTransient, Reason: reason, Err: why}
	}
	return cause.Stopped(ctx)
}

// closeAll closes the files that are open.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
