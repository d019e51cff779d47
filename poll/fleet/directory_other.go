//go:build !unix

package fleet

import "io/fs"

// isOwn returns true, because this system has no permission bits. A new directory inherits the permissions of
// its parent.
func isOwn(fs.FileInfo) bool { return true }
