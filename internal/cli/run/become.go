package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// readThen checks the program after "--" that follows URLs, which poll runs on SUCCESS. It returns a usage
// error if a URL stands there or the program cannot run. poll's own stdout is discarded then, since stdout
// belongs to the program.
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
		w.process.Refuse("cannot run", argv.Usagef("%s: poll waits for nothing", missing.Reason).Hint("%s", advice))
		return unrunnableCode(missing)
	}
	streams := *w.process.Streams
	streams.Out, streams.CloseOut = io.Discard, func() error { return nil }
	w.process.Streams = &streams
	return nil
}

// then replaces the process by the program in s.Then if err is nil. It returns err if there is no such program
// or err is not nil. Otherwise then returns only if a signal came or the program could not start, or, on
// Windows, with the program's exit code.
func (w *wait) then(ctx context.Context, err error) error {
	s := w.spec
	if err != nil || len(s.Then) == 0 {
		return err
	}
	if w.process.Release != nil {
		w.process.Release() // a signal now ends the process
	}
	if caught, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok {
		return caught
	}
	path, err := exec.LookPath(s.Then[0])
	if errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows" {
		err = nil // like a shell, which also searches relative directories in $PATH
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
