package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
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

// CodeOf returns how an error ends the process. A signal counts before all else.
func CodeOf(err error) ExitCode {
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
		return CodeOf(cmp.Or(o.Cause, context.Canceled))
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

// A timeoutError is the error that the time for everything is over before the wait has started.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.after) }

// Error makes an exit code an error that is not reported.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// ExitWith returns an error that ends the process with a code, or nil for [ExitSuccess].
func ExitWith(code ExitCode) error {
	if code == ExitSuccess {
		return nil
	}
	return code
}

// Await returns the error of f, or the cause of ctx if ctx is done first.
func Await(ctx context.Context, f func() error) error {
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

// Deliver writes the result. A signal that comes meanwhile leaves it messageTime: a reader that has
// everything may kill poll, and what was delivered in full stands. After a signal it still writes
// what there is, and the guard makes sure that this ends.
func (p Host) Deliver(ctx context.Context, write func() error) error {
	if p.Guard != nil {
		p.Guard.writing.Store(true)
		defer p.Guard.writing.Store(false)
	}
	if ctx.Err() != nil {
		return write()
	}
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(messageTime, func() { cancel(context.Cause(ctx)) })
	})()
	return Await(late, write)
}

// unrunnableCode returns the exit code for a program that cannot be run.
func unrunnableCode(f *status.Failure) ExitCode {
	if f.Kind == status.FailureNotExecutable {
		return ExitNotExecutable
	}
	return ExitNotFound
}
