package cli

import (
	"os/signal"
	"syscall"
)

// endingSignals are Ctrl-C, and closing the window or logging off.
func endingSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
}

func ignoredAtStart(sig syscall.Signal) bool { return signal.Ignored(sig) }

func catchPipes() (stop func()) { return func() {} }

func signalName(sig syscall.Signal) string { return sig.String() }

// DieOf returns the code to exit with: no program dies of a signal here.
func DieOf(sig syscall.Signal) (code int) { return (&SignalError{sig}).ExitCode() }
