//go:build unix

package fleet

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether nobody else may put files into a directory. The user may be root.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := os.Geteuid()
	return (!ok || user == 0 || int(stat.Uid) == user) && info.Mode().Perm()&0o022 == 0
}
