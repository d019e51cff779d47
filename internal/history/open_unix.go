//go:build unix

package history

import "syscall"

// safeFlags open a file in a directory in which others may write: no symbolic
// link is followed, and no pipe is waited for.
const safeFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
