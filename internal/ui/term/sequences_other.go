//go:build !windows

package term

import "os"

// takeSequences does nothing: only Windows consoles need it.
func takeSequences(*os.File) {}
