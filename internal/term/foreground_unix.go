//go:build unix

package term

import "golang.org/x/sys/unix"

// inForeground reports whether the process group owns the terminal. A terminal
// that is not the controlling one cannot be asked, and forbids nothing.
func inForeground(fd int) bool {
	owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || owner == unix.Getpgrp()
}
