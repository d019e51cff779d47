//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// access reports whether f is closed or not open for writing, and whether f is /dev/null, open for both reading
// and writing.
func access(f *os.File) (closed, isNull bool) {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	mode := flags & unix.O_ACCMODE
	info, _ := f.Stat()
	null, _ := os.Stat(os.DevNull)
	return err != nil || mode == unix.O_RDONLY, mode == unix.O_RDWR && os.SameFile(info, null)
}

// inForeground reports whether this process group is the foreground process group of the terminal fd. It returns
// true if that cannot be determined, for example because fd is not the controlling terminal.
func inForeground(fd int) bool {
	owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || owner == unix.Getpgrp()
}

// takeSequences does nothing: only a Windows console must be set up for escape sequences.
func takeSequences(*os.File) {}
