//go:build unix

package term

import "golang.org/x/sys/unix"

// inForeground reports whether the process group owns the terminal. It is true for
// a terminal that is not the controlling one, which cannot be asked.
func inForeground(fd int) bool {
	owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || owner == unix.Getpgrp()
}
