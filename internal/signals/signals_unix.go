//go:build unix

package signals

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func ending() []syscall.Signal {
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		// These mean a fault, and the runtime takes them for its own, with exit code
		// 2. What is caught is only what others have sent.
		syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}
	if fault := unix.SignalNum("SIGSTKFLT"); fault != 0 { // not every system has it
		signals = append(signals, fault)
	}
	return signals
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

// catchPipes catches SIGPIPE until it is told to stop.
func catchPipes() (stop func()) {
	pipes := make(chan os.Signal, 1) // nobody reads it: what does not fit is dropped
	signal.Notify(pipes, syscall.SIGPIPE)
	return func() { signal.Stop(pipes) }
}

func nameOf(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}

// DieOf ends the program by sig, so that the parent sees a death by that signal:
// a shell script that Ctrl-C was meant for then ends too. It returns the code to
// exit with where that cannot be done: as process 1, which no signal ends.
func DieOf(sig syscall.Signal) (code int) {
	code = (&Error{sig}).ExitCode()
	if os.Getpid() == 1 || !restoreDefault(sig) {
		return code
	}
	if syscall.Kill(os.Getpid(), sig) == nil {
		time.Sleep(time.Second) // it is delivered to any thread, at any moment
	}
	return code
}
