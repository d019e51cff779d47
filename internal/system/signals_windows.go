package system

import (
	"os/signal"
	"syscall"
)

// ending returns the signals that end the program. INT is Ctrl-C, and TERM is the closing of the window or the
// end of the session.
func ending() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
}

// ignoredAtStart reports whether sig was ignored when the program started.
func ignoredAtStart(sig syscall.Signal) bool { return signal.Ignored(sig) }

// catchPipes does nothing: Windows has no SIGPIPE.
func catchPipes() (stop func()) { return func() {} }

// nameOf returns a description of sig, such as "interrupt".
func nameOf(sig syscall.Signal) string { return sig.String() }

// DieOf returns the exit code to use: on Windows, a program cannot end by a signal.
func DieOf(sig syscall.Signal) (code int) { return (&SignalError{sig}).ExitCode() }
