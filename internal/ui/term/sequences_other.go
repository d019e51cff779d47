//go:build !windows

package term

import "os"

// takeSequences is for Windows.
func takeSequences(*os.File) {}
