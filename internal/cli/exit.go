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
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// An ExitCode is the exit code of the process. The codes are part of the
// interface: scripts rely on them.
type ExitCode int

// The exit codes. If a signal ended the run, the process ends by that signal, which
// a shell reports as 128 plus its number.
const (
	ExitSuccess       ExitCode = 0
	ExitError         ExitCode = 1   // the operation failed, or can never succeed
	ExitUsage         ExitCode = 2   // nothing was attempted
	ExitAttempts      ExitCode = 3   // --max-attempts were made
	ExitThrottled     ExitCode = 4   // the server asks for a wait beyond the deadline
	ExitTimeout       ExitCode = 124 // as timeout(1)
	ExitInternal      ExitCode = 125 // poll itself failed, e.g. the result could not be written
	ExitNotExecutable ExitCode = 126 // as in a shell
	ExitNotFound      ExitCode = 127 // as in a shell
)

// exitCode says how an error ends the process. A signal counts before all else.
func exitCode(err error) ExitCode {
	var signal *system.SignalError
	var said ExitCode
	var cannot *poll.Error
	switch {
	case err == nil:
		return ExitSuccess
	case errors.As(err, &signal):
		return ExitCode(signal.ExitCode())
	case errors.As(err, new(*timeoutError)):
		return ExitTimeout
	case errors.As(err, &said):
		return said
	case errors.As(err, &cannot):
		return outcomeCode(cannot.Outcome)
	case argv.IsUsage(err):
		return ExitUsage
	}
	return ExitInternal
}

func outcomeCode(o poll.Outcome) ExitCode {
	switch o.Ending {
	case poll.CannotRun:
		return unrunnableCode(o.Observation.Failure)
	case poll.Interrupted:
		return exitCode(cmp.Or(o.Cause, context.Canceled))
	case poll.Failed:
		if errors.Is(o.Cause, resume.ErrNotStarted) {
			return ExitInternal
		}
	}
	codes := map[poll.Ending]ExitCode{poll.Succeeded: ExitSuccess, poll.Failed: ExitError, poll.HintTooLong: ExitThrottled,
		poll.AttemptsExhausted: ExitAttempts, poll.TimedOut: ExitTimeout}
	if code, known := codes[o.Ending]; known {
		return code
	}
	return ExitInternal
}

// finish reports an error, unless it was reported before, and returns the exit
// code.
func (p Process) finish(err error) ExitCode {
	if _, said := errors.AsType[ExitCode](err); err != nil && !said {
		fmt.Fprintf(p.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	return exitCode(err)
}

// A timeoutError says that the time for everything is over where there is no run.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.after) }

// Error makes a code an error that is no failure of poll, and is not reported.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// exitWith returns what ends the process with a code, nil for [ExitSuccess].
func exitWith(code ExitCode) error {
	if code == ExitSuccess {
		return nil
	}
	return code
}

// Main is the whole program: it catches signals, runs, and ends the process.
func Main(p Process) {
	// Signals are caught before anything else: until then Go exits with 2 on some, with a
	// dump of all goroutines. They stay caught until the exit: as process 1, Go would exit
	// with 2 on a signal that comes after the run.
	ctx, hurry, release := system.CatchSignals(context.Background())
	// A fatal error of the runtime would exit with 2, as if nothing had been
	// attempted. This makes it die by SIGABRT.
	debug.SetTraceback("crash")
	log.SetOutput(io.Discard) // net/http logs what servers send out of turn
	p.Hurry, p.release = hurry, release
	p.guard = newGuard(ctx, hurry, p.Streams.Err)
	p.Streams.Wrote = p.guard.touch
	context.AfterFunc(ctx, p.guard.atSignal)
	Exit(ctx, Run(ctx, p))
}

// Exit ends the process with a code, or by the signal that ended the wait, so that
// the shell running a script knows that Ctrl-C was meant for the script, too.
func Exit(ctx context.Context, code ExitCode) {
	if e, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok && int(code) == e.ExitCode() {
		os.Exit(system.DieOf(e.Signal))
	}
	os.Exit(int(code))
}

const (
	// margin is how much longer than the grace an orderly end may take: the killed
	// program is waited for, and the last message is written.
	margin = 2 * time.Second
	// secondMargin is the same after the second signal.
	secondMargin = time.Second
	// messageTime is how long the guard's message, and a result being written at a
	// signal, may still take.
	messageTime = 100 * time.Millisecond
)

// A guard is the last resort: it ends the process if that should have ended, by a
// signal or at the deadline, but is stuck in something without a context, such as a
// write to a pipe that nobody reads. It relies on nothing of that. The program of
// an attempt needs no guard, since stopping it cannot get stuck.
type guard struct {
	ctx      context.Context            // done at the first signal
	hurry    <-chan struct{}            // closed at the second
	patience atomic.Int64               // how long an orderly end may take, a duration
	late     atomic.Pointer[time.Timer] // ends the process after the deadline; nil until then
	writing  atomic.Bool                // the result is being written
	once     sync.Once
	end      func(error)
}

func newGuard(ctx context.Context, hurry <-chan struct{}, stderr io.Writer) *guard {
	g := &guard{ctx: ctx, hurry: hurry}
	g.patience.Store(int64(defaultGrace + margin))
	g.end = func(cause error) {
		words, cancel := context.WithTimeout(context.Background(), messageTime)
		defer cancel()
		await(words, func() error {
			_, err := fmt.Fprintf(stderr, "poll: %v; what was under way is given up\n", cause)
			return err
		})
		Exit(ctx, exitCode(cause))
	}
	return g
}

// setDeadline tells the guard how long the run may take: until a deadline, if there is a timeout.
func (g *guard) setDeadline(timeout time.Duration, deadline time.Time, grace time.Duration) {
	if g == nil {
		return
	}
	g.patience.Store(int64(grace + margin))
	if timeout > 0 {
		time.AfterFunc(time.Until(deadline), func() { g.atDeadline(&timeoutError{timeout}) })
	}
}

// giveUpIn ends the process after a while.
func (g *guard) giveUpIn(d time.Duration, cause error) *time.Timer {
	return time.AfterFunc(d, func() { g.once.Do(func() { g.giveUp(cause) }) })
}

// atDeadline gives an orderly end its time. That begins now: the process may have been stopped until
// then. After a signal, atSignal ends the process.
func (g *guard) atDeadline(cause error) {
	late := g.giveUpIn(time.Duration(g.patience.Load()), cause)
	context.AfterFunc(g.ctx, func() { late.Stop() })
	g.late.Store(late)
}

// touch puts off the end after the deadline, since somebody has read a part of the result.
func (g *guard) touch() {
	if late := g.late.Load(); late != nil && late.Stop() {
		late.Reset(time.Duration(g.patience.Load()))
	}
}

// atSignal ends the process after the first signal, sooner if there is a second.
func (g *guard) atSignal() {
	cause := context.Cause(g.ctx)
	if errors.Is(cause, context.Canceled) {
		return // it ends by itself
	}
	g.giveUpIn(time.Duration(g.patience.Load()), cause)
	<-g.hurry
	g.giveUpIn(secondMargin, cause)
}

// giveUp ends the process. A SUCCESS that was reported before its result was written does not hold.
func (g *guard) giveUp(cause error) {
	if g.writing.Load() {
		cause = fmt.Errorf("%w, and the result was not written in full by then", cause)
	}
	g.end(cause)
}

// await returns the error of f, or the cause of ctx if ctx is done first.
func await(ctx context.Context, f func() error) error {
	_, err := awaitValue(ctx, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// awaitValue returns the results of f, or the cause of ctx if ctx is done first. Nothing can end a read from a pipe
// that nobody writes to, so f is then abandoned, and must not change what others use.
func awaitValue[T any](ctx context.Context, f func() (T, error)) (v T, err error) {
	type results struct {
		value T
		err   error
	}
	done := make(chan results, 1)
	go func() {
		value, err := f()
		done <- results{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}

// deliver writes the result. A signal that comes meanwhile leaves it messageTime: a reader that has
// everything may kill poll, and what was delivered in full stands. After a signal it still writes
// what there is, and the guard makes sure that this ends.
func (p Process) deliver(ctx context.Context, write func() error) error {
	if p.guard != nil {
		p.guard.writing.Store(true)
		defer p.guard.writing.Store(false)
	}
	if ctx.Err() != nil {
		return write()
	}
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(messageTime, func() { cancel(context.Cause(ctx)) })
	})()
	return await(late, write)
}
