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

// ending returns the signals that end the program. The caller starts catching them in this order. The first
// signals are the most urgent: until they are caught, Go would print the stacks of all goroutines.
func ending() []syscall.Signal {
	signals := []syscall.Signal{syscall.SIGQUIT,
		// These signals report faults. The program catches them only if another process sends them: for a fault
		// in the program itself, the Go runtime exits with code 2.
		syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}
	if fault := unix.SignalNum("SIGSTKFLT"); fault != 0 { // 0 on systems without this signal
		signals = append(signals, fault)
	}
	return append(signals, plain()...)
}

// plain returns the signals that end a Go program without printing stacks.
func plain() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// ignoredAtStart reports whether sig was ignored when the program started. For QUIT, it returns the result for
// INT: Go records only whether INT and HUP were ignored. A shell without job control makes a command that ends with
// "&" ignore both INT and QUIT.
func ignoredAtStart(sig syscall.Signal) bool {
	if sig == syscall.SIGQUIT {
		sig = syscall.SIGINT
	}
	return signal.Ignored(sig)
}

// catchPipes catches SIGPIPE and discards it, until the returned function stop is called.
func catchPipes() (stop func()) {
	pipes := make(chan os.Signal, 1) // the channel is never read: once it is full, further signals are dropped
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

// DieOf ends the program with the signal sig, so that the parent process sees the signal. As a result, Ctrl-C also
// ends a shell script that runs the program. If the signal cannot end the program, DieOf returns the exit code that
// the program should use instead. This is the case in process 1, and for a signal that makes Go print the stacks of
// all goroutines.
func DieOf(sig syscall.Signal) (code int) {
	code = (&SignalError{sig}).ExitCode()
	if os.Getpid() == 1 || !slices.Contains(plain(), sig) {
		return code
	}
	signal.Reset(sig)
	if syscall.Kill(os.Getpid(), sig) == nil {
		time.Sleep(time.Second) // the signal may take a moment to arrive
	}
	return code
}

// WatchProcess returns a function that reports whether process pid has ended. A process has ended when its last
// thread has ended, even if its parent has not reaped it yet. If there is no such process, the function returns
// true. On Linux and macOS, the function does not mistake a later process with the same number for the original
// process. The error is always nil.
func WatchProcess(pid int) (hasEnded func() bool, err error) {
	start := startOf(pid)
	return func() bool { return !isAlive(pid, start) }, nil
}

// isAlive reports whether process pid exists and has not ended. A process with a start time other than start counts
// as another process. If start or the current start time is unknown (""), the two are not compared.
func isAlive(pid int, start string) bool {
	now := startOf(pid)
	isAnother := start != "" && now != "" && now != start
	return syscall.Kill(pid, 0) != syscall.ESRCH && now != zombie && !isAnother
}

// zombie is the result of startOf for a process that has ended but has not yet been reaped by its parent.
const zombie = "Z"

// safeFlags are the flags for opening a file in a directory where other users can create files. With these flags,
// open fails for a symbolic link, and does not block on a pipe.
const safeFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockSuffix is appended to the name of the file to lock. It is empty because a lock does not stop other processes
// from reading the file.
const lockSuffix = ""

// isOwn reports whether the current user owns the file. If the user is root, it returns true for every file.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := os.Geteuid()
	return !ok || user == 0 || int(stat.Uid) == user
}

// OpenFiles returns the maximum number of files that this process can have open at the same time. It returns
// [math.MaxInt64] if the limit is unknown.
func OpenFiles() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
