package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An ExitCode is what the process ends with. The codes are part of the
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
	if err == nil {
		return ExitSuccess
	}
	if e, ok := errors.AsType[*SignalError](err); ok {
		return ExitCode(e.ExitCode())
	}
	if _, ok := errors.AsType[*timeoutError](err); ok {
		return ExitTimeout
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if argv.IsUsage(err) {
		return ExitUsage
	}
	return ExitInternal
}

// outcomeCode says how the outcome of a run ends the process.
func outcomeCode(o poll.Outcome) ExitCode {
	if o.Ending == poll.CannotRun && o.Observation.Failure.Kind == status.FailureNotExecutable {
		return ExitNotExecutable
	}
	if e, ok := errors.AsType[*SignalError](o.Cause); ok && o.Ending == poll.Interrupted {
		return ExitCode(e.ExitCode())
	}
	switch o.Ending {
	case poll.Succeeded:
		return ExitSuccess
	case poll.Failed:
		return ExitError
	case poll.CannotRun:
		return ExitNotFound
	case poll.HintTooLong:
		return ExitThrottled
	case poll.AttemptsExhausted:
		return ExitAttempts
	case poll.TimedOut:
		return ExitTimeout
	}
	return ExitInternal
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
	ctx, hurry, release := CatchSignals(context.Background())
	w.Hurry = hurry
	w.guard = newGuard(ctx, hurry, w.Streams)
	go w.guard.watch()
	code := Run(ctx, w)
	release()
	Exit(ctx, code)
}

// Exit ends the process with a code, or by the signal that ended the wait: the
// shell that runs a script then knows that Ctrl-C was meant for the script, too.
func Exit(ctx context.Context, code ExitCode) {
	if e, ok := errors.AsType[*SignalError](context.Cause(ctx)); ok && int(code) == e.ExitCode() {
		os.Exit(DieOf(e.Signal))
	}
	os.Exit(int(code))
}
