package lockedfile

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file unless another process has locked it. Nobody could read what is
// locked: it is a byte far behind the end.
func tryLock(f *os.File) (held bool, err error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	behind := windows.Overlapped{OffsetHigh: math.MaxInt32}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &behind)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return true, nil
	}
	return false, err
}
