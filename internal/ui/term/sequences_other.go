//go:build !windows

package term

import "os"

// takeSequences does nothing, except on Windows.
func takeSequences(*os.File) {}
