//go:build unix

package system

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ending returns the signals that end the program. Go prints the stacks of all goroutines for some signals that
// are not caught. Those signals come first, since the caller catches them one by one.
func ending() []syscall.Signal {
	signals := []syscall.Signal{syscall.SIGQUIT,
		// These signals report faults. For a fault of its own, the Go runtime exits with 2. Only signals from
		// other processes are caught.
		syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}
	if fault := unix.SignalNum("SIGSTKFLT"); fault != 0 { // only some systems have this signal
		signals = append(signals, fault)
	}
	return append(signals, plain()...)
}

// plain returns the signals that end a program by default, without a dump.
func plain() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// ignoredAtStart reports whether sig was ignored when the program started. Go keeps only INT and HUP ignored,
// and forgets that other signals were ignored. A shell without job control ignores both INT and QUIT for
// "command &", so QUIT has the result of INT.
func ignoredAtStart(sig syscall.Signal) bool {
	if sig == syscall.SIGQUIT {
		sig = syscall.SIGINT
	}
	return signal.Ignored(sig)
}

// catchPipes catches SIGPIPE until stop is called.
func catchPipes() (stop func()) {
	pipes := make(chan os.Signal, 1) // the channel is never read: signals that do not fit are dropped
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}

// nameOf returns the name of sig, such as SIGTERM, or a description if sig has no name.
func nameOf(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}

// DieOf ends the program by sig, so that the parent process sees the signal: a shell script that runs the
// program then ends after Ctrl-C, too. Otherwise DieOf returns the exit code to use. It does that for process 1,
// which does not end by a signal. It also does that for a signal that makes Go print the stacks of all
// goroutines.
func DieOf(sig syscall.Signal) (code int) {
	code = (&SignalError{sig}).ExitCode()
	if os.Getpid() == 1 || !slices.Contains(plain(), sig) {
		return code
	}
	signal.Reset(sig)
	if syscall.Kill(os.Getpid(), sig) == nil {
		time.Sleep(time.Second) // the signal may arrive on any thread, at any moment
	}
	return code
}
