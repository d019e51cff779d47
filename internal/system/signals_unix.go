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

// ending returns the signals that end the program. Those for which Go prints a dump of all
// goroutines come first, since they are caught one after the other.
func ending() []syscall.Signal {
	signals := []syscall.Signal{syscall.SIGQUIT,
		// These report faults: if its own, the runtime exits with 2. Only those
		// sent by other processes are caught.
		syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}
	if fault := unix.SignalNum("SIGSTKFLT"); fault != 0 { // not every system has it
		signals = append(signals, fault)
	}
	return append(signals, plain()...)
}

// plain returns the signals that by default only end a program.
func plain() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// ignoredAtStart reports whether sig was ignored when the program started. Go
// keeps only INT and HUP ignored and forgets the others. But a shell without job
// control ignores INT and QUIT together, for "command &".
func ignoredAtStart(sig syscall.Signal) bool {
	if sig == syscall.SIGQUIT {
		sig = syscall.SIGINT
	}
	return signal.Ignored(sig)
}

// catchPipes catches SIGPIPE until stop is called.
func catchPipes() (stop func()) {
	pipes := make(chan os.Signal, 1) // never read: signals that do not fit are dropped
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}

func nameOf(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}

// DieOf ends the program by sig, so that the parent sees a death by that signal: a
// shell script that Ctrl-C was meant for then ends, too. If that is impossible, it returns
// the exit code to use: for process 1, and for a signal whose default in Go is a dump of all
// goroutines.
func DieOf(sig syscall.Signal) (code int) {
	code = (&SignalError{sig}).ExitCode()
	if os.Getpid() == 1 || !slices.Contains(plain(), sig) {
		return code
	}
	signal.Reset(sig)
	if syscall.Kill(os.Getpid(), sig) == nil {
		time.Sleep(time.Second) // any thread may get it, at any moment
	}
	return code
}
