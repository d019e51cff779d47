//go:build unix

package fleet

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a directory belongs to the user, who may be root.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := os.Geteuid()
	return !ok || user == 0 || int(stat.Uid) == user
}

// isShared reports whether others may put files into a directory.
func isShared(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
