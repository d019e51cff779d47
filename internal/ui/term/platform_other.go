//go:build !unix

package term

import "os"

// access reports nothing, since the mode of an open file is not known here.
func access(*os.File) (closed, isNull bool) { return false, false }

// inForeground returns true, since background jobs do not exist here.
func inForeground(int) bool { return true }
