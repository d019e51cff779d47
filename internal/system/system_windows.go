package system

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/signal"
	"syscall"

	"golang.org/x/sys/windows"
)

// ending returns the signals that end the program. INT stands for Ctrl-C. TERM stands for closing the console
// window or ending the user's session.
func ending() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
}

// ignoredAtStart reports whether sig was ignored when the program started.
func ignoredAtStart(sig syscall.Signal) bool { return signal.Ignored(sig) }

// catchPipes does nothing: Windows has no SIGPIPE.
func catchPipes() (stop func()) { return func() {} }

// nameOf returns a description of sig, such as "interrupt".
func nameOf(sig syscall.Signal) string { return sig.String() }

// DieOf returns the exit code that the program should use: on Windows, a signal cannot end a program.
func DieOf(sig syscall.Signal) (code int) { return (&SignalError{sig}).ExitCode() }

// WatchProcess returns a function that reports whether process pid has ended. If there is no such process, the
// function returns true. WatchProcess returns an error if the process cannot be opened.
func WatchProcess(pid int) (hasEnded func() bool, err error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // there is no such process
		return func() bool { return true }, nil
	case err != nil:
		return nil, fmt.Errorf("open the process: %w", err)
	}
	return func() bool { // the open handle prevents Windows from using the number again
		event, err := windows.WaitForSingleObject(process, 0)
		return err != nil || event == windows.WAIT_OBJECT_0
	}, nil
}

const (
	safeFlags  = 0
	lockSuffix = ".lock" // other processes cannot read a locked file on Windows
)

// isOwn returns true for every file, because it cannot determine the owner on Windows.
func isOwn(fs.FileInfo) bool { return true }

// OpenFiles returns [math.MaxInt64]: Windows does not limit the number of open files.
func OpenFiles() int64 { return math.MaxInt64 }
