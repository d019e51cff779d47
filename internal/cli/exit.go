package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui/term"
)

// finish prints err, unless err is a [run.ExitCode], whose message is already printed. It returns the exit
// code for err, which is [run.ExitSuccess] if err is nil.
func (p app) finish(err error) run.ExitCode {
	if _, said := errors.AsType[run.ExitCode](err); err != nil && !said {
		fmt.Fprintf(p.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	return run.CodeOf(err)
}

// Main catches signals, runs the command line, and ends the process.
func Main(p Process) {
	// Signals are caught first: Go's default for some signals is exit code 2 and a dump of all goroutines.
	// Signals stay caught until the exit, since process 1 would otherwise exit with 2 on a signal after the run.
	ctx, hurry, release := system.CatchSignals(context.Background())
	// A fatal error of the Go runtime would exit with 2, the code for "nothing was attempted". With this setting
	// the process dies by SIGABRT.
	debug.SetTraceback("crash")
	log.SetOutput(io.Discard) // net/http logs unsolicited responses
	p.Hurry, p.release = hurry, release
	p.guard = run.NewGuard(ctx, hurry, p.Streams.Err)
	p.Streams.Wrote = p.guard.Touch
	context.AfterFunc(ctx, p.guard.AtSignal)
	run.Exit(ctx, Run(ctx, p))
}
