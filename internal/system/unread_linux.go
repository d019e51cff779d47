package system

import "golang.org/x/sys/unix"

// Unread returns how many bytes of what was written to a pipe nobody has read yet, and 0 if that
// is not known.
func Unread(fd uintptr) int {
	n, _ := unix.IoctlGetInt(int(fd), unix.TIOCINQ) // also FIONREAD
	return n
}
