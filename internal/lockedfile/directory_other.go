//go:build !windows

package lockedfile

import (
	"io/fs"
	"os"
)

const makeOwn = "chmod go-w"

func makeDirectory(path string) error { return os.MkdirAll(path, 0o700) }

// access reports whether a directory belongs to the user, and whether others may write to it.
func access(_ string, info fs.FileInfo) (own, shared bool, err error) {
	return Own(info), info.Mode().Perm()&0o022 != 0, nil
}
