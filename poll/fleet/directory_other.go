//go:build !unix

package fleet

import "io/fs"

// There are no modes here. A directory has the rights of the one above it.
func isOwn(fs.FileInfo) bool { return true }
