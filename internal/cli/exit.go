package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/signals"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An ExitCode is the exit code of the process. The codes are part of the
// interface: scripts rely on them.
type ExitCode int

// The exit codes. A run that a signal ended ends the process by that signal,
// which a shell reports as 128 plus the signal's number.
const (
	ExitSuccess       ExitCode = 0
	ExitError         ExitCode = 1   // the operation failed, or can never succeed
	ExitUsage         ExitCode = 2   // nothing was attempted
	ExitAttempts      ExitCode = 3   // --max-attempts were made
	ExitThrottled     ExitCode = 4   // the server asks for a wait that passes the deadline
	ExitTimeout       ExitCode = 124 // as timeout(1)
	ExitInternal      ExitCode = 125 // poll itself failed, e.g. the result could not be written
	ExitNotExecutable ExitCode = 126 // as a shell
	ExitNotFound      ExitCode = 127 // as a shell
)

// exitCode says how an error ends the process. A signal counts before all else.
func exitCode(err error) ExitCode {
	var signal *signals.Error
	var said *exitError
	switch {
	case err == nil:
		return ExitSuccess
	case errors.As(err, &signal):
		return ExitCode(signal.ExitCode())
	case errors.As(err, new(*timeoutError)):
		return ExitTimeout
	case errors.As(err, &said):
		return said.code
	case argv.IsUsage(err):
		return ExitUsage
	}
	return ExitInternal
}

func outcomeCode(o poll.Outcome) ExitCode {
	switch o.Ending {
	case poll.Succeeded:
		return ExitSuccess
	case poll.Failed:
		return ExitError
	case poll.CannotRun:
		if o.Observation.Failure.Kind == status.FailureNotExecutable {
			return ExitNotExecutable
		}
		return ExitNotFound
	case poll.HintTooLong:
		return ExitThrottled
	case poll.AttemptsExhausted:
		return ExitAttempts
	case poll.TimedOut:
		return ExitTimeout
	case poll.Interrupted:
		return exitCode(cmp.Or(o.Cause, context.Canceled))
	}
	return ExitInternal
}

// finish says what has gone wrong, unless that was said, and returns the exit code.
func (w World) finish(err error) ExitCode {
	if _, said := errors.AsType[*exitError](err); err != nil && !said {
		fmt.Fprintf(w.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	return exitCode(err)
}

// A timeoutError says that the time for everything is over, of what is no run.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.after) }

// An exitError is an exit code that is no failure of poll. Nothing is left to say.
type exitError struct{ code ExitCode }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main is the whole program: it catches signals, runs, and ends the process.
func Main(w World) {
	log.SetOutput(io.Discard) // net/http logs what servers send out of turn
	// A fatal error of the runtime would exit with 2, as if nothing was attempted.
	// This makes it a death by SIGABRT.
	debug.SetTraceback("crash")
	// Signals stay caught until the exit: Go as process 1 would exit with 2 at one that
	// comes after the run.
	ctx, hurry, _ := signals.Catch(context.Background())
	w.Hurry = hurry
	w.guard = newGuard(ctx, hurry, w.Streams)
	go w.guard.watch()
	Exit(ctx, Run(ctx, w))
}

// Exit ends the process with a code, or by the signal that ended the wait: the
// shell that runs a script then knows that Ctrl-C was meant for the script, too.
func Exit(ctx context.Context, code ExitCode) {
	if e, ok := errors.AsType[*signals.Error](context.Cause(ctx)); ok && int(code) == e.ExitCode() {
		os.Exit(signals.DieOf(e.Signal))
	}
	os.Exit(int(code))
}

const (
	// margin is what an end in good order may take longer than the grace: the
	// killed program is waited for, and the last message is written.
	margin = 2 * time.Second
	// secondMargin is what it may take after the second signal.
	secondMargin = time.Second
	// messageTime is how long the guard's message may take.
	messageTime = 100 * time.Millisecond
	// tick is how often the guard looks. It counts these, so that the time for
	// which the process was stopped does not count.
	tick = 250 * time.Millisecond
)

// A guard is the last resort: it ends the process when that has been told to
// end, by a signal or because its time is over, and does not. Something is stuck
// then that knows no context, such as a write to a pipe that nobody reads. The
// guard asks nothing of it. The program of an attempt needs no guard, since
// nothing that stops it can be stuck.
type guard struct {
	ctx       context.Context // done at the first signal
	hurry     <-chan struct{} // closed at the second
	limits    chan limit
	delivered func() int64 // changes while somebody reads the result
	writing   atomic.Bool  // the result is under way
	end       func(error)
}

// A limit tells the guard how long a run may take.
type limit struct {
	timeout  time.Duration // 0 for none
	deadline time.Time
	grace    time.Duration
}

// limit tells the guard what time the run has.
func (w World) limit(l limit) {
	if w.guard != nil {
		w.guard.limits <- l
	}
}

func newGuard(ctx context.Context, hurry <-chan struct{}, s *term.Streams) *guard {
	g := &guard{ctx: ctx, hurry: hurry, limits: make(chan limit, 1), delivered: s.Delivered}
	g.end = func(cause error) {
		words, cancel := context.WithTimeout(context.Background(), messageTime)
		defer cancel()
		await(words, func() error {
			_, err := fmt.Fprintf(s.Err, "poll: %v; what was under way is given up\n", cause)
			return err
		})
		Exit(ctx, exitCode(cause))
	}
	return g
}

// watch returns when the process ends by itself.
func (g *guard) watch() {
	l := limit{grace: poll.DefaultGrace}
	var cause error // nil while nobody has asked for the end
	var left time.Duration
	var deadline, ticks <-chan time.Time
	var hurry <-chan struct{}
	signal, delivered := g.ctx.Done(), int64(0)
	for {
		select {
		case l = <-g.limits:
			if l.timeout > 0 && signal != nil {
				deadline = time.After(time.Until(l.deadline))
			}
			continue
		case <-deadline:
			cause, left = &timeoutError{l.timeout}, l.grace+margin
		case <-signal:
			signal, hurry, deadline = nil, g.hurry, nil
			if cause = context.Cause(g.ctx); errors.Is(cause, context.Canceled) {
				return
			}
			left = l.grace + margin
		case <-hurry:
			hurry, left = nil, min(left, secondMargin)
		case <-ticks:
			left -= tick
		}
		if now := g.delivered(); now != delivered && signal != nil {
			delivered, left = now, l.grace+margin
		}
		if left <= 0 {
			g.end(g.explained(cause))
			return
		}
		ticks = time.After(tick)
	}
}

// explained is the cause of the end, and why that is not the one that may have
// been said already: a SUCCESS is none until somebody has its result.
func (g *guard) explained(cause error) error {
	if g.writing.Load() {
		return fmt.Errorf("%w, and the result was not written in full by then", cause)
	}
	return cause
}

// await returns what f returns, or the cause of ctx if that is done before.
// Nothing can end a read from a pipe that nobody writes to, so f is then left
// to itself, and what it has under its hands must not be used any more.
func await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver writes the result, and gives up at a signal. What comes of a signal
// is written, too, and then it is for the guard to see to the end.
func (w World) deliver(ctx context.Context, write func() error) error {
	if w.guard != nil {
		w.guard.writing.Store(true)
		defer w.guard.writing.Store(false)
	}
	if ctx.Err() != nil {
		return write()
	}
	return await(ctx, write)
}
