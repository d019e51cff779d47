//go:build !unix

package lockedfile

import "io/fs"

const (
	safeFlags = 0
	besides   = ".lock" // since nobody could read a file that is locked
)

func own(fs.FileInfo) bool { return true }
