// Package process runs a program once for each attempt. It captures the outputs of the program, and can end the program
// with all processes that the program has started.
package process

import (
	"cmp"
	"context"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

const (
	// defaultGrace is the Grace of a Command whose Grace is zero.
	defaultGrace = 2 * time.Second
	// defaultMaxBody is the MaxBody, in bytes, of a Command whose MaxBody is zero.
	defaultMaxBody = 64 << 20
)

// A Command has the fields of poll.Command.
type Command struct {
	Args       []string
	Dir        string
	Env        []string
	Stdin      []byte
	Foreground bool
	Grace      time.Duration
	MaxBody    int64
	Stream     bool
	Stderr     io.Writer
}

// A Session runs the command of a target, attempt after attempt.
type Session struct {
	Command // with default values filled in; a Grace of 0 means no grace
	environ []string
	mu      sync.Mutex // allows one attempt at a time
	left    []*child   // children whose group may have members that were not reaped
}

// NewSession returns the session of c. It replaces a zero Grace or MaxBody by the default, and a negative Grace by 0.
func NewSession(c Command) *Session {
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	c.Grace = max(c.Grace, 0)
	c.MaxBody = cmp.Or(c.MaxBody, defaultMaxBody) // Check reports a negative limit
	// Environ adds what the system needs: PWD, SYSTEMROOT.
	environ := (&exec.Cmd{Dir: c.Dir, Env: c.Env}).Environ()
	return &Session{Command: c, environ: environ}
}

// Run runs the command for attempt n, which counts from 1, and returns the observation. variables, such as NAME=value,
// are added to the environment. With Stream, each complete line of an output is passed to tell. If tell returns true,
// Run ends the program, and returns the observation of that line. If ctx is done first, Run stops the program, and the
// observation has a Failure.
func (s *Session) Run(ctx context.Context, tell func(status.Observation) (enough bool), n int, variables ...string) status.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	obs := status.Observation{Kind: status.KindCommand, Protocol: meaning.Command{}}
	began := time.Now()
	if ctx.Err() != nil {
		obs.Failure = endedFailure(ctx, began)
		return obs
	}
	if connect.CallerOf(ctx).ReapOrphans {
		reap(-1)
	}
	s.left = slices.DeleteFunc(s.left, (*child).empty)
	// The program ends with this thread (see endWithThread). The lock keeps other goroutines from locking the thread
	// and ending it during the attempt.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, failure := s.start(n, variables)
	if failure != nil {
		obs.Failure = failure
		return obs
	}
	defer c.release()
	var decided *status.Observation
	if s.Stream {
		decided = s.listen(ctx, c, tell)
	}
	stopped := decided == nil && s.attend(ctx, c)
	if decided == nil {
		c.outputs.observe(&obs)
	}
	switch {
	case decided != nil:
		obs = *decided
	case stopped:
		obs.Failure = endedFailure(ctx, began)
	case c.cmd.ProcessState == nil:
		obs.Failure = &status.Failure{Reason: "its exit code was lost", Err: c.err}
	default:
		exit, signal := ending(c.cmd.ProcessState)
		obs.Exit, obs.Signal = &exit, signal
	}
	obs.Ended = s.Stream && decided == nil
	if decided == nil && !stopped && !s.Foreground && c.outputs.isHeld() { // otherwise the outputs may still be read
		obs.Remarks = append(obs.Remarks, "what "+s.name()+" left running held its output, and was ended")
	}
	if isClosed(c.exited) && !c.empty() {
		s.left = append(s.left, &child{cmd: c.cmd, group: c.group}) // without its outputs
	}
	if c.unkillable {
		obs.Remarks = append(obs.Remarks, s.name()+" could not be killed")
	}
	return obs
}

// endedFailure returns the failure of an attempt that started at began and has no result because ctx is done.
func endedFailure(ctx context.Context, began time.Time) *status.Failure {
	reason := meaning.ErrAttemptTimeout.Error()
	if deadline, ok := ctx.Deadline(); ok {
		reason += " after " + words.Short(deadline.Sub(began))
	}
	return meaning.Stopped(ctx, reason)
}

// start starts the program for attempt n. It returns a failure if the program cannot be started. In later attempts
// than the first, the failure is transient: the program may be replaced while poll waits. If a variable has several
// values, os/exec passes on the last value.
func (s *Session) start(n int, variables []string) (c *child, failure *status.Failure) {
	path, failure := s.find()
	if failure == nil {
		cmd, err := prepare(path, s.Args, !s.Foreground)
		if err != nil {
			return nil, &status.Failure{Kind: status.FailureHopeless, Reason: err.Error(), Err: err}
		}
		cmd.Dir, cmd.Env = s.Dir, append(slices.Clip(s.environ), variables...)
		if c, err = s.run(cmd); err == nil {
			return c, nil
		}
		failure = s.notRun(path, err)
	}
	if n > 1 {
		failure.Kind = status.FailureTransient
	}
	return nil, failure
}
