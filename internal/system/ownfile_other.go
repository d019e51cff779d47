//go:build !unix

package system

import "io/fs"

const (
	safeFlags  = 0
	lockSuffix = ".lock" // on Windows, a locked file cannot be read
)

// isOwn returns true: the owner of a file is not known here.
func isOwn(fs.FileInfo) bool { return true }
