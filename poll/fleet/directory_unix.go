//go:build unix

package fleet

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether nobody else may put files into a directory, not even its owner.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return (!ok || int(stat.Uid) == os.Geteuid()) && info.Mode().Perm()&0o022 == 0
}
