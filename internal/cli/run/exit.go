package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An ExitCode is the exit code of the process. The codes are part of poll's interface, because scripts test them.
type ExitCode int

// The exit codes. If a signal ends the wait, the process terminates itself with the same signal. A shell reports that as 128 plus
// the signal's number.
const (
	ExitSuccess       ExitCode = 0
	ExitError         ExitCode = 1   // the operation failed, or can never succeed
	ExitUsage         ExitCode = 2   // nothing was attempted
	ExitAttempts      ExitCode = 3   // the --max-attempts limit was reached
	ExitThrottled     ExitCode = 4   // the server requires a wait that ends after the deadline
	ExitTimeout       ExitCode = 124 // the timeout passed; timeout(1) uses the same code
	ExitInternal      ExitCode = 125 // poll itself failed, for example when it wrote the result
	ExitNotExecutable ExitCode = 126 // the program cannot be executed; shells use the same code
	ExitNotFound      ExitCode = 127 // the program was not found; shells use the same code
)

// CodeOf returns the exit code for err. It returns [ExitSuccess] for nil, and [ExitInternal] for an error of
// unknown type. If err wraps several errors, a [system.SignalError] takes precedence.
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
	switch {
	case o.Ending == poll.Succeeded:
		return ExitSuccess
	case o.Ending == poll.CannotRun:
		return unrunnableCode(o.Observation.Failure)
	case o.Ending == poll.Interrupted:
		return CodeOf(cmp.Or(o.Cause, context.Canceled))
	case errors.Is(o.Cause, resume.ErrNotStarted):
		return ExitInternal
	}
	codes := map[poll.Ending]ExitCode{poll.Failed: ExitError, poll.ThrottledTooLong: ExitThrottled,
		poll.AttemptsExhausted: ExitAttempts, poll.TimedOut: ExitTimeout}
	return cmp.Or(codes[o.Ending], ExitInternal)
}

// A timeoutError reports that the timeout of the whole run passed before the wait started, or while a result was
// being prepared. The field after is the timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.after) }

// Error implements error, so that functions can return an exit code as an error. The message is for debugging: the
// function that returned the code has already printed a message for the user.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// ExitWith returns code as an error, or nil for [ExitSuccess].
func ExitWith(code ExitCode) error {
	if code == ExitSuccess {
		return nil
	}
	return code
}

// Await calls f in a goroutine and returns its error. If ctx is done first, Await returns the cause of ctx, and f
// continues in the background: f may be blocked forever, for example in a read from a pipe without a writer.
// Therefore the caller must not use the results of f if Await returns an error.
func Await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Deliver calls write, which writes a result, and returns its error. If a signal arrives during the call, write may
// continue for messageTime. The signal may come from a reader that already has the complete result, and then the
// wait counts as a success. If a signal arrived before the call, Deliver sets no time limit, and the [Guard] ends
// the process if write blocks.
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

// Write writes text to stdout with [Host.Deliver].
func (p Host) Write(ctx context.Context, text string) error {
	return p.Deliver(ctx, func() error { return ui.WriteOut(p.Streams, []byte(text)) })
}

// unrunnableCode returns the exit code for a program that cannot run: [ExitNotExecutable] or [ExitNotFound].
func unrunnableCode(f *status.Failure) ExitCode {
	if f.Kind == status.FailureNotExecutable {
		return ExitNotExecutable
	}
	return ExitNotFound
}

// A Host is the current process, with everything that running a command line requires.
type Host struct {
	read.Env
	Hurry   <-chan struct{} // closed when a second signal to end the process arrives
	Release func()          // stops catching signals; nil if signals are not caught
	Guard   *Guard          // ends the process if it hangs; nil in tests
	Began   time.Time
}

// Refuse prints a usage error and its hints to stderr. In GitHub Actions, it also prints an annotation with the
// title what, which the service shows next to the job. The caller must not make any attempt afterwards.
func (p Host) Refuse(what string, err error) {
	text := usageText(err)
	io.WriteString(p.Streams.Err, text+ui.Annotation(p.Lookup.Get, what, strings.TrimSpace(text)))
}

// usageText formats err and its hints for the terminal. For an error in a condition, it prints the condition with
// a caret below the wrong position. It replaces control characters, because err may quote any argument.
func usageText(err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "poll: %s\n", term.Line(err.Error()))
	if e, ok := errors.AsType[*expr.Error](err); ok {
		b.WriteString(caret(e))
	}
	if e, ok := errors.AsType[*argv.UsageError](err); ok {
		for _, hint := range e.Hints {
			fmt.Fprintf(&b, "  hint: %s\n", term.Line(hint))
		}
	}
	return b.String()
}

// caret returns the condition of e with a caret below the wrong position. If the condition is longer than 72
// characters, caret returns only the part around this position. The hint of e follows on a separate line.
func caret(e *expr.Error) string {
	const most = 72
	source := []rune(strings.Map(flat, e.Source))
	column := min(max(e.Column-1, 0), len(source))
	if start := column - most*2/3; start > 0 && len(source) > most {
		source, column = source[start:], column-start
	}
	text := fmt.Sprintf("  %s\n  %s^\n", string(source[:min(len(source), most)]), strings.Repeat(" ", column))
	if e.Hint != "" {
		text += "  hint: " + e.Hint + "\n"
	}
	return text
}

// flat replaces an unprintable character by a blank. It never changes the number of characters, so the caret keeps
// its column.
func flat(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// readThen checks the program that follows the URLs after "--", which poll runs after SUCCESS. It returns a usage
// error if the program is a URL. If the program cannot run, readThen prints the reason, and returns an exit code as
// the error. If there is such a program, stdout belongs to the program, so poll's own output to stdout is discarded.
func (w *wait) readThen() error {
	s := w.spec
	if len(s.Then) == 0 {
		return nil
	}
	if argv.HasScheme(s.Then[0]) {
		return argv.Usagef("%s comes after --, where a program stands", poll.HTTP{URL: s.Then[0]}.Target()).
			Hint("URLs come before --")
	}
	missing, advice, err := w.process.CheckProgram(poll.Command{Args: s.Then})
	if err != nil {
		return err
	}
	if missing != nil {
		w.process.Refuse("cannot run", argv.Usagef("%s: poll made no attempt", missing.Reason).Hint("%s", advice))
		return unrunnableCode(missing)
	}
	streams := *w.process.Streams
	streams.Out, streams.CloseOut = io.Discard, func() error { return nil }
	w.process.Streams = &streams
	return nil
}

// then replaces the process with the program in s.Then if err is nil, that is, after SUCCESS. It returns err if
// err is not nil or no program was given. Otherwise it returns only if a signal arrived, if the program could not
// start, or, on Windows, when the program has ended. The error then carries the exit code.
func (w *wait) then(ctx context.Context, err error) error {
	s := w.spec
	if err != nil || len(s.Then) == 0 {
		return err
	}
	if w.process.Release != nil {
		w.process.Release() // from now on, signals have their default effect
	}
	if caught, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok {
		return caught
	}
	path, err := exec.LookPath(s.Then[0])
	if errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		err = nil // a shell also runs programs from relative directories in $PATH
	}
	code := ExitNotFound
	if err == nil {
		if face := w.report.Face; face != ui.JSON && face != ui.None {
			fmt.Fprintf(w.process.Streams.Err, "poll: now runs %s\n", read.ProgramName(s.Then[0]))
		}
		code, err = become(path, s.Then)
	}
	if err != nil {
		fmt.Fprintf(w.process.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	return ExitWith(code)
}
