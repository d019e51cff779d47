// Package system provides operating system functions that the standard library lacks: it catches the signals that
// end the program, detects when another process ends, and writes files either completely or not at all.
//
//	files.go           private files, locks, the directories of poll's state
//	process.go         the signals that end the program, and their first and second occurrence
//	system_unix.go     the list of signals, the end of another process, owners of files
//	system_windows.go  the same for Windows
//	system_linux.go, system_darwin.go, system_other.go  facts of one system
package system

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A SignalError is the cause of a context that a signal canceled.
type SignalError struct{ Signal syscall.Signal }

// Error returns a message that names the signal.
func (e *SignalError) Error() string { return fmt.Sprintf("ended by %s", nameOf(e.Signal)) }

// ExitCode returns the exit code that a shell reports for a program that the signal ended: 128 plus the signal's
// number.
func (e *SignalError) ExitCode() int { return 128 + int(e.Signal) }

// CatchSignals catches the signals that end a program, such as INT, TERM, HUP or QUIT. The first signal cancels
// ctx, with a [*SignalError] as its cause. The second signal closes hurry. A signal that was ignored when the
// program started stays ignored, as nohup(1) requires.
//
// CatchSignals also catches and discards SIGPIPE, so that a write to a closed pipe returns an error. It does not
// ignore SIGPIPE, because child processes would inherit that.
//
// The function release stops catching signals, which then have their default effect again, and cancels ctx. A
// signal that arrived before the call is not lost: the cause of ctx is then a [*SignalError].
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
		close(caught) // watch first receives the signals that are still in the channel
		<-done
		cancel(context.Canceled)
	}
}

// echoTime is the time after the first signal during which a second signal of the same kind is ignored. timeout(1)
// sends its signal twice: to its child and to the child's process group.
const echoTime = 100 * time.Millisecond

// watch calls cancel when it receives the first signal from caught. On the next signal that is not an echo of the
// first, watch closes second and returns. It also returns when caught is closed.
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
