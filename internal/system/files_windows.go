package system

import "math"

// OpenFiles returns [math.MaxInt64]: Windows has no limit of open files.
func OpenFiles() int64 { return math.MaxInt64 }
