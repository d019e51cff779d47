//go:build unix

package system

import (
	"io/fs"
	"math"
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

// WatchProcess returns a function that reports whether the last thread of the process pid has ended, or whether there
// was no such process. A zombie has ended, even if its parent has not yet waited. On Linux and macOS a later process
// with the same number is not mistaken for the process. err is always nil.
func WatchProcess(pid int) (hasEnded func() bool, err error) {
	start := startOf(pid)
	return func() bool { return !isAlive(pid, start) }, nil
}

// isAlive reports whether there is a process pid that started at start and has not ended. If start is "", any
// start counts.
func isAlive(pid int, start string) bool {
	now := startOf(pid)
	isAnother := start != "" && now != "" && now != start
	return syscall.Kill(pid, 0) != syscall.ESRCH && now != zombie && !isAnother
}

// zombie is the result of startOf for a process that has ended, while its parent has not yet waited.
const zombie = "Z"

// safeFlags are flags for a file in a directory where other users may write. The open call then fails for a
// symbolic link, and does not block on a pipe.
const safeFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockSuffix is the suffix of the file to lock. It is empty, since other processes can read a locked file.
const lockSuffix = ""

// isOwn reports whether the file belongs to the current user. It returns true for every file if the user is
// root.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := os.Geteuid()
	return !ok || user == 0 || int(stat.Uid) == user
}

// OpenFiles returns the number of files that this process can have open at once. It returns [math.MaxInt64] if
// the limit is unknown.
func OpenFiles() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
