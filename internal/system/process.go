// Package system provides functions of the operating system that the standard library lacks. They catch the
// signals that end the program, watch the end of another process, and write files completely or not at all.
package system

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A SignalError is the cause of a context that was canceled by a signal.
type SignalError struct{ Signal syscall.Signal }

// Error returns a message with the name of the signal.
func (e *SignalError) Error() string { return fmt.Sprintf("ended by %s", nameOf(e.Signal)) }

// ExitCode returns the exit code that a shell reports for a program ended by the signal: 128 plus its number.
func (e *SignalError) ExitCode() int { return 128 + int(e.Signal) }

// CatchSignals returns a context that the first signal such as INT, TERM, HUP or QUIT cancels, with a
// [*SignalError] as its cause. The second signal closes hurry. A signal that was ignored when the program
// started stays ignored, as nohup(1) requires.
//
// SIGPIPE is caught and dropped, so that a write to a closed pipe returns an error. It is not ignored, since
// child processes would inherit that.
//
// release stops catching signals, which then have their default action again. It also cancels the context. If a
// signal came before, the cause is a [*SignalError], so no signal is lost.
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
		close(caught) // watch still receives the signals in the channel
		<-done
		cancel(context.Canceled)
	}
}

// echoTime is how long a repetition of the first signal is not a second signal. timeout(1) sends the same signal
// to its child and to the process group.
const echoTime = 100 * time.Millisecond

// watch calls cancel at the first signal from caught. It closes second and returns at the next signal that is
// not an echo. It also returns when caught is closed.
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
