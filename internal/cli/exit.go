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

// finish reports an error, unless it was reported before, and returns the exit
// code.
func (p app) finish(err error) run.ExitCode {
	if _, said := errors.AsType[run.ExitCode](err); err != nil && !said {
		fmt.Fprintf(p.Streams.Err, "poll: %s\n", term.Line(err.Error()))
	}
	return run.CodeOf(err)
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
	p.guard = run.NewGuard(ctx, hurry, p.Streams.Err)
	p.Streams.Wrote = p.guard.Touch
	context.AfterFunc(ctx, p.guard.AtSignal)
	run.Exit(ctx, Run(ctx, p))
}
