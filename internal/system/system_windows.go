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

// WatchProcess returns a function that reports whether the last thread of the process pid has ended, or whether there
// was no such process. A zombie has ended, even if its parent has not yet waited. WatchProcess fails if
// the process cannot be opened.
func WatchProcess(pid int) (hasEnded func() bool, err error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // no process has this number
		return func() bool { return true }, nil
	case err != nil:
		return nil, fmt.Errorf("open the process: %w", err)
	}
	return func() bool { // the open handle keeps the number from being used again
		event, err := windows.WaitForSingleObject(process, 0)
		return err != nil || event == windows.WAIT_OBJECT_0
	}, nil
}

const (
	safeFlags  = 0
	lockSuffix = ".lock" // on Windows, a locked file cannot be read
)

// isOwn returns true: the owner of a file is not known here.
func isOwn(fs.FileInfo) bool { return true }

// OpenFiles returns [math.MaxInt64]: Windows has no limit of open files.
func OpenFiles() int64 { return math.MaxInt64 }
