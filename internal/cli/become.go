package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// readThen checks the program behind the URLs and "--", which poll becomes on SUCCESS.
// stdout is the program's.
func (w *wait) readThen(l *argv.Line) error {
	if len(l.Then) == 0 {
		return nil
	}
	program := argv.ProgramName(l.Then[0])
	for _, name := range []string{"print", "json"} {
		if l.Has(name) && (name != "json" || l.On(name)) && !l.DropVariable(name) {
			return argv.Usagef("%s writes to stdout, which is for %s", l.Origin(name), program).
				Hint("--progress json writes events to stderr; without -- both can be had: poll ... && %s", program)
		}
	}
	if hasScheme(l.Then[0]) {
		return argv.Usagef("%s comes after --, where a program stands", poll.TargetName(l.Then[0])).
			Hint("URLs come before --")
	}
	missing, advice, err := checkProgram(l, poll.Command{Args: l.Then})
	if err != nil {
		return err
	}
	if missing != nil {
		said := argv.Usagef("%s: nothing is waited for", missing.Reason)
		if advice != "" {
			said.Hint("%s", advice)
		}
		w.world.refuse("cannot run", said)
		return &exitError{unrunnableCode(missing)}
	}
	streams := *w.world.Streams
	streams.Out, streams.CloseOut = io.Discard, func() error { return nil }
	w.world.Streams = &streams
	return nil
}

// unrunnableCode returns the exit code for a program that cannot be run.
func unrunnableCode(f *status.Failure) ExitCode {
	if f.Kind == status.FailureNotExecutable {
		return ExitNotExecutable
	}
	return ExitNotFound
}

// then becomes the program that follows a wait which has ended with err, if there is one
// and the wait has succeeded. It returns only if that fails.
func (w *wait) then(ctx context.Context, l *argv.Line, err error) error {
	if err != nil || len(l.Then) == 0 {
		return err
	}
	if w.world.release != nil {
		w.world.release() // from now on a signal ends the process
	}
	if caught, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok {
		return caught
	}
	path, err := exec.LookPath(l.Then[0])
	if errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		err = nil // as a shell
	}
	code := ExitNotFound
	if err == nil {
		code, err = become(path, l.Then)
	}
	if err != nil {
		fmt.Fprintf(w.world.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	if code != ExitSuccess {
		return &exitError{code}
	}
	return nil
}
