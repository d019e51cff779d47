//go:build unix

package fleet

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether the directory belongs to the current user, and only this user may create files in it.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return (!ok || int(stat.Uid) == os.Geteuid()) && info.Mode().Perm()&0o022 == 0
}
