//go:build !unix

package term

import "os"

// access returns false, since the mode of an open file is not known here.
func access(*os.File) (closed, isNull bool) { return false, false }

// inForeground returns true, since there are no background jobs here.
func inForeground(int) bool { return true }
