//go:build unix

package system

import (
	"io/fs"
	"os"
	"syscall"
)

// safeFlags are flags for a file in a directory where other users may write. The open call then fails for a
// symbolic link, and does not block on a pipe.
const safeFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockSuffix is the suffix of the file to lock. It is empty, since other processes can read a locked file.
const lockSuffix = ""

// isOwn reports whether the file belongs to the current user. It returns true for every file if the user is
// root.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := os.Geteuid()
	return !ok || user == 0 || int(stat.Uid) == user
}
