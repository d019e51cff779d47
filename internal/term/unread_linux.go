package term

import "golang.org/x/sys/unix"

// unread returns how much of what was written to a pipe has not been read yet; for
// anything but a pipe it is meaningless.
func unread(fd int) int {
	n, _ := unix.IoctlGetInt(fd, unix.TIOCINQ)
	return n
}
