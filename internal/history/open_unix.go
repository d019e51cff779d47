//go:build unix

package history

import "syscall"

// careful opens a file in a directory in which others may write: no symbolic
// link is followed, and no pipe is waited for.
const careful = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
