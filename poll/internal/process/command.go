// Package process runs a program again and again: it captures what the program writes,
// and can end it with all that it has started.
package process

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/body"
	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/status"
)

const (
	// DefaultGrace is the Grace of a Command whose Grace is zero.
	DefaultGrace = 2 * time.Second
	// defaultMaxBody is the MaxBody, in bytes, of a Command whose MaxBody is zero.
	defaultMaxBody = 64 << 20
	// reapInterval is the time between two looks for orphans during an attempt.
	reapInterval = time.Second
)

// errWantsTerminal ends an attempt whose program waits for a terminal that it
// cannot have.
var errWantsTerminal = errors.New("stopped because it wants the terminal")

// A Command has the fields of poll.Command.
type Command struct {
	Args        []string
	Dir         string
	Env         []string
	Stdin       []byte
	Foreground  bool
	Grace       time.Duration
	MaxBody     int64
	Bodies      *body.Budget
	Stderr      io.Writer
	ReapOrphans bool
	Hurry       <-chan struct{}
}

// An Attempt has the fields of poll.Attempt.
type Attempt struct {
	Number   int
	Elapsed  time.Duration
	Previous status.Status
	LastLook bool
}

// A Session is a command in one run. It keeps the place where the program was found from
// one attempt to the next.
type Session struct {
	Command // with its defaults; here a Grace of 0 means none

	path    string // of the program, "" before it was looked for
	environ []string
	outputs outputs
	drains  time.Duration // what drainTime is here
}

// NewSession returns the session of a command.
func NewSession(c Command) *Session {
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	c.Grace = max(c.Grace, 0)
	if c.MaxBody <= 0 {
		c.MaxBody = defaultMaxBody
	}
	s := &Session{Command: c, drains: drainTime}
	// Environ adds what the system needs: PWD, SYSTEMROOT.
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
		obs.Failure = endedFailure(ctx, began)
		return obs
	}
	if s.ReapOrphans {
		new(child).reapOrphans()
	}
	// The program ends with this thread (see endWithThread), so no other goroutine may
	// lock and end it meanwhile.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.Release()
	c, failure := s.start(ctx, a)
	if failure != nil {
		obs.Failure = failure
		return obs
	}
	defer c.release()
	why := s.attend(ctx, c)
	obs.StderrCut = s.outputs.stderr.full
	obs.Body, obs.Size, obs.Stderr = s.outputs.take()
	obs.Truncated = obs.Size > int64(len(obs.Body))
	switch {
	case errors.Is(why, errWantsTerminal):
		obs.Failure = &status.Failure{Kind: status.FailureHopeless, Reason: why.Error(), Err: why}
		obs.Failure.Advice.Code = status.AdviceTerminal
	case why != nil:
		obs.Failure = endedFailure(ctx, began)
	case c.err != nil:
		obs.Failure = &status.Failure{Reason: "its exit code was lost", Err: c.err}
	default:
		obs.Exit, obs.Signal = &c.exit, c.signal
	}
	if c.unkillable {
		obs.Remarks = append(obs.Remarks, s.name()+" could not be killed")
	}
	return obs
}

// Release gives back what the last answer holds of the Bodies.
func (s *Session) Release() { s.outputs.hold.Release() }

// endedFailure says why an attempt whose ctx is done has no answer.
func endedFailure(ctx context.Context, began time.Time) *status.Failure {
	reason := cause.ErrAttemptTimeout.Error()
	if deadline, ok := ctx.Deadline(); ok {
		reason += " after " + words.Short(deadline.Sub(began))
	}
	return cause.Failure(ctx, reason)
}

// start starts the program and the copying of its outputs. Only the first attempt can
// report that the program cannot be run at all.
func (s *Session) start(ctx context.Context, a Attempt) (c *child, failure *status.Failure) {
	if s.path == "" {
		s.path, failure = s.look()
	}
	if failure == nil {
		cmd, err := prepare(s.path, s.Args, !s.Foreground)
		if err != nil {
			return nil, &status.Failure{Kind: status.FailureHopeless, Reason: err.Error(), Err: err}
		}
		cmd.Dir, cmd.Env = s.Dir, s.environment(a)
		in, err := s.outputs.start(ctx, cmd, s.Command)
		if err == nil {
			return newChild(cmd.Process, in, !s.Foreground), nil
		}
		failure = s.notStarted(s.path, err)
	}
	s.path = "" // it may have moved
	if a.Number > 1 {
		failure.Kind = status.FailureTransient
	}
	return nil, failure
}

// environment returns the environment of one attempt.
func (s *Session) environment(a Attempt) []string {
	return append(slices.Clip(s.environ),
		"POLL_ATTEMPT="+strconv.Itoa(a.Number),
		"POLL_ELAPSED="+strconv.FormatInt(int64(a.Elapsed/time.Second), 10),
		"POLL_STATUS="+a.Previous.String())
}

// attend waits until the program has ended, or stops it and returns why. It returns nil
// if the program ended by itself.
func (s *Session) attend(ctx context.Context, c *child) (why error) {
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
			why = errWantsTerminal
		case <-ctx.Done():
			// Both may have happened. A program that has ended is complete.
			if !c.ended() {
				why = context.Cause(ctx)
			}
		case <-orphans:
			c.reapOrphans()
			waiting = true
		}
	}
	if why != nil {
		s.stop(c)
		s.outputs.awaitEnd(s.drains)
		s.outputs.cut()
		return why
	}
	<-c.exited
	s.settle(ctx, c)
	return nil
}

// settle ends the attempt of a program that has ended: it reads what the program wrote,
// and gives whoever holds the outputs open some time to finish, but stops them if the
// context is done meanwhile.
func (s *Session) settle(ctx context.Context, c *child) {
	grace, drained := time.NewTimer(s.Grace), time.NewTimer(s.drains)
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

// stop ends the program and its group. Who cannot be asked gets no time to end.
func (s *Session) stop(c *child) {
	if s.Grace > 0 && c.terminate() && c.gone(s.Grace, s.Hurry) {
		return
	}
	c.kill()
	// Only another user's process survives that, or one that is stuck in the kernel.
	c.unkillable = !c.gone(time.Second, nil)
}

// A child is the program of one attempt, with its process group if it has its own.
type child struct {
	process *os.Process
	job     job
	pid     int
	group   bool          // it leads a process group, whose number is pid
	exited  chan struct{} // closed when the program has ended and was reaped
	// terminal gets a value when the program was stopped because it wants the
	// terminal.
	terminal chan struct{}

	// Valid when exited is closed.
	exit   int
	signal string
	err    error // why the exit code is unknown

	unkillable bool
}

// newChild starts a goroutine that waits for p.
func newChild(p *os.Process, in job, group bool) *child {
	c := &child{process: p, job: in, pid: p.Pid, group: group, exited: make(chan struct{}), terminal: make(chan struct{}, 1)}
	go func() {
		c.wait()
		close(c.exited)
	}()
	return c
}

// maxPause is the longest pause between two looks at a group.
const maxPause = 32 * time.Millisecond

// thorough is how many looks come before the first at all processes: an eighth of a
// second's.
const thorough = 8

// gone waits until the program has ended and its group is empty. A value from hurry asks
// them again to end. It reports false when d has passed or hurry is closed.
func (c *child) gone(d time.Duration, hurry <-chan struct{}) bool {
	enough := time.NewTimer(d)
	defer enough.Stop()
	exited, pause, looks := c.exited, time.Millisecond, 0
	var look <-chan time.Time // at the group, when the program has ended
	for {
		select {
		case <-exited:
			exited = nil
		case <-look:
			looks++
			pause = min(2*pause, maxPause)
		case <-enough.C:
			return false
		case _, open := <-hurry:
			if !open {
				return false
			}
			c.terminate()
			continue
		}
		// Nothing reports when a group becomes empty, so it is looked at, often at first:
		// most end at once. To find what only waits to be reaped, all processes have to be
		// looked at. That is done ever more rarely: many groups may be stopped together.
		if c.empty(looks >= thorough && bits.OnesCount(uint(looks)) == 1) {
			return true
		}
		look = time.After(pause)
	}
}
