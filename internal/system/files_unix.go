//go:build unix

package system

import (
	"math"
	"syscall"
)

// OpenFiles returns the number of files that this process can have open at once. It returns [math.MaxInt64] if
// the limit is unknown.
func OpenFiles() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
