//go:build !unix

package fleet

import "io/fs"

// There are no owners and modes here. A directory has the rights of the one above it.

func isOwn(fs.FileInfo) bool    { return true }
func isShared(fs.FileInfo) bool { return false }
