//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// access reports whether f cannot be written to, and whether it is /dev/null and open for reading,
// too.
func access(f *os.File) (closed, isNull bool) {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	mode := flags & unix.O_ACCMODE
	info, _ := f.Stat()
	null, _ := os.Stat(os.DevNull)
	return err != nil || mode == unix.O_RDONLY, mode == unix.O_RDWR && os.SameFile(info, null)
}

// inForeground reports whether the process group owns the terminal. It is true for
// a terminal that is not the controlling one, which cannot be asked.
func inForeground(fd int) bool {
	owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || owner == unix.Getpgrp()
}
