package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/pollcli/poll/internal/report"
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
	if isUsage(err) {
		return ExitUsage
	}
	if _, ok := errors.AsType[*report.ResultError](err); ok {
		return ExitInternal
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
