package term

import "golang.org/x/sys/unix"

// unread is how much of what was written to a pipe nobody has read yet; of what
// is no pipe it means nothing.
func unread(fd int) int {
	n, _ := unix.IoctlGetInt(fd, unix.TIOCINQ)
	return n
}
