//go:build unix

package fleet

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether only this user may create files in a directory. A directory of another user is not own.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return (!ok || int(stat.Uid) == os.Geteuid()) && info.Mode().Perm()&0o022 == 0
}
