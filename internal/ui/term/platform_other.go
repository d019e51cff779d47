//go:build !unix

package term

import "os"

// access reports nothing, where a file does not tell how it was opened.
func access(*os.File) (closed, isNull bool) { return false, false }

// inForeground is true where there are no background jobs.
func inForeground(int) bool { return true }
