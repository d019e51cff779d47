//go:build unix

package history

import "syscall"

// safeFlags open a file in a directory that others may write to: they follow no
// symbolic link and do not block on a pipe.
const safeFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
