//go:build unix

package system

import (
	"io/fs"
	"os"
	"syscall"
)

// safeFlags open a file in a directory that others may write to: they follow no
// symbolic link and do not block on a pipe.
const safeFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockSuffix is what a lock adds to the name of a file: a lock keeps nobody from reading it.
const lockSuffix = ""

// isOwn reports whether a file belongs to the user, who may be root.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := os.Geteuid()
	return !ok || user == 0 || int(stat.Uid) == user
}
