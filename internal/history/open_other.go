//go:build !unix

package history

const safeFlags = 0
