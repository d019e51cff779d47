package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// takeSequences makes the console of f interpret escape sequences, if f is a console. Consoles support this
// since Windows 10. The shell restores the mode later.
func takeSequences(f *os.File) {
	const wanted = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil {
		windows.SetConsoleMode(windows.Handle(f.Fd()), mode|wanted)
	}
}

// access returns false, since the mode of an open file is not known here.
func access(*os.File) (closed, isNull bool) { return false, false }

// inForeground returns true, since there are no background jobs here.
func inForeground(int) bool { return true }
