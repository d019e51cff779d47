// Package system has what a program asks of its system beyond the standard library: signals
// that end it, the end of another process, and files that are whole or not there.
package system

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A SignalError is the cause of a context cancelled by a signal.
type SignalError struct{ Signal syscall.Signal }

// Error names the signal.
func (e *SignalError) Error() string { return fmt.Sprintf("ended by %s", nameOf(e.Signal)) }

// ExitCode returns what a shell reports for a program ended by the signal.
func (e *SignalError) ExitCode() int { return 128 + int(e.Signal) }

// CatchSignals returns a context that the first INT, TERM, HUP or QUIT cancels, with an
// [*SignalError] as its cause, and a channel that the second one closes. A signal that
// was ignored when the program started stays ignored (nohup).
//
// SIGPIPE is caught and dropped, so that a write to a closed pipe is an error. It
// is not ignored, since child processes would inherit that.
//
// release stops catching signals, which then have their default action, and cancels the
// context: with an [*SignalError] if a signal came before, so that none is lost.
func CatchSignals(parent context.Context) (ctx context.Context, hurry <-chan struct{}, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 8)
	for _, sig := range ending() {
		if ignoredAtStart(sig) {
			signal.Ignore(sig)
		} else {
			signal.Notify(caught, sig)
		}
	}
	pipes := catchPipes()
	second, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		watch(caught, cancel, second)
	}()
	return ctx, second, func() {
		signal.Stop(caught)
		pipes()
		close(caught) // what is in it comes first
		<-done
		cancel(context.Canceled)
	}
}

// echoTime is how long a repetition of the same signal counts as the first one:
// timeout(1) sends one to its child and another to its group.
const echoTime = 100 * time.Millisecond

// watch cancels at the first signal and closes second at the next one that is not
// an echo of it.
func watch(caught <-chan os.Signal, cancel context.CancelCauseFunc, second chan<- struct{}) {
	var first syscall.Signal
	var echoUntil time.Time
	for s := range caught {
		sig, _ := s.(syscall.Signal)
		switch {
		case first == 0:
			first, echoUntil = sig, time.Now().Add(echoTime)
			cancel(&SignalError{sig})
		case sig != first || !time.Now().Before(echoUntil):
			close(second)
			return
		}
	}
}
