package cli

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"runtime/debug"
)

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
