package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// takeSequences sets up the console f to interpret escape sequences. It has no effect if f is not a console.
// Windows supports this since Windows 10. The shell restores the console's mode later.
func takeSequences(f *os.File) {
	const wanted = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil {
		windows.SetConsoleMode(windows.Handle(f.Fd()), mode|wanted)
	}
}

// access returns false for both results: the access mode of an open file is unknown on Windows.
func access(*os.File) (closed, isNull bool) { return false, false }

// inForeground returns true: Windows has no background jobs.
func inForeground(int) bool { return true }
