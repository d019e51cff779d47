package system

import (
	"os/signal"
	"syscall"
)

// ending returns Ctrl-C, and closing the window or logging off.
func ending() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
}

func ignoredAtStart(sig syscall.Signal) bool { return signal.Ignored(sig) }

func catchPipes() (stop func()) { return func() {} }

func nameOf(sig syscall.Signal) string { return sig.String() }

// DieOf returns the exit code to use: on Windows no program dies of a signal.
func DieOf(sig syscall.Signal) (code int) { return (&SignalError{sig}).ExitCode() }
