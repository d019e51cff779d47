// Package process runs a program once per attempt. It captures the outputs of the program, and can end the program
// together with all processes that the program has started.
//
// The files:
//
//	command.go        a command and its session: one run per attempt
//	program.go        the search for a program; the reason why a program cannot run
//	outputs.go        the outputs of a program: pipes, size limits, lines of a stream
//	child.go          the program from its start to its end: timeout, signals, grace
//	child_unix.go     process groups and signals on Unix
//	child_linux.go    the end of a program together with poll, on Linux
//	child_other.go    the same on other systems: no effect
//	child_windows.go  job objects on Windows
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
	// defaultGrace replaces a zero Grace.
	defaultGrace = 2 * time.Second
	// defaultMaxBody replaces a zero MaxBody. It is in bytes.
	defaultMaxBody = 64 << 20
)

// A Command describes a program to run. Its fields have the same meaning as the fields of poll.Command.
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

// A Session runs the same command in every attempt of a wait.
type Session struct {
	Command // after NewSession has set defaults; a Grace of 0 means that processes are killed at once
	environ []string
	mu      sync.Mutex // held during an attempt
	left    []*child   // children of earlier attempts whose process groups may still have members to reap
}

// NewSession returns a session for c. It replaces a zero Grace or MaxBody by the default, and a negative Grace by 0.
func NewSession(c Command) *Session {
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	c.Grace = max(c.Grace, 0)
	c.MaxBody = cmp.Or(c.MaxBody, defaultMaxBody) // a negative MaxBody is kept: Check and Run report it
	// Environ adds the variables that the system needs, such as PWD and SYSTEMROOT.
	environ := (&exec.Cmd{Dir: c.Dir, Env: c.Env}).Environ()
	return &Session{Command: c, environ: environ}
}

// Run runs the command for attempt number n, counted from 1, and returns an observation of its outputs and its exit
// code. The variables, such as "NAME=value", are added to the command's environment.
//
// With Stream, Run passes each complete line of an output to receive. If receive returns true, Run ends the program and
// returns the observation of that line. If ctx is done before the program has ended, Run stops the program and
// returns an observation with a Failure.
func (s *Session) Run(ctx context.Context, receive func(status.Observation) (enough bool), n int, variables ...string) status.Observation {
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
	// The program ends with the current thread (see endWithThread). Locking the goroutine to the thread prevents
	// other goroutines from ending the thread during the attempt.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, failure := s.start(n, variables)
	if failure != nil {
		obs.Failure = failure
		return obs
	}
	defer c.release()
	decided, stopped := s.Stream && s.listen(ctx, c, receive, &obs), false
	if !decided {
		stopped = s.attend(ctx, c)
		c.outputs.observe(&obs)
		obs.Ended = s.Stream
	}
	switch {
	case decided:
	case stopped:
		obs.Failure = endedFailure(ctx, began)
	case c.cmd.ProcessState == nil:
		obs.Failure = &status.Failure{Reason: "its exit code was lost", Err: c.err}
	default:
		exit, signal := ending(c.cmd.ProcessState)
		obs.Exit, obs.Signal = &exit, signal
		if !s.Foreground && c.outputs.isHeld() {
			obs.Hints = status.Notes("a process that " + s.name() + " left running held its output, and was ended")
		}
	}
	if isClosed(c.exited) && !c.empty() {
		s.left = append(s.left, &child{cmd: c.cmd, group: c.group}) // a copy without the outputs, so that their memory can be released
	}
	if c.unkillable {
		obs.Hints = append(obs.Hints, status.Notes(s.name()+" could not be killed")...)
	}
	return obs
}

// endedFailure returns the failure of an attempt that ended because ctx is done. began is the start of the attempt.
func endedFailure(ctx context.Context, began time.Time) *status.Failure {
	reason := meaning.ErrAttemptTimeout.Error()
	if deadline, ok := ctx.Deadline(); ok {
		reason += " after " + words.Short(deadline.Sub(began))
	}
	return meaning.Stopped(ctx, reason)
}

// start starts the program for attempt number n. variables are added to the environment; if a name occurs several
// times, os/exec passes on the last value. If the program cannot be found or started, start returns a failure. In the
// second and later attempts that failure is transient, because the program may be replaced while poll waits.
func (s *Session) start(n int, variables []string) (c *child, failure *status.Failure) {
	if s.MaxBody < 0 {
		return nil, &status.Failure{Kind: status.FailureHopeless, Reason: errMaxBody.Error(), Err: errMaxBody}
	}
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
