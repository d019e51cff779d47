package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// takeSequences has the console of a stream act on escape sequences itself, which it can
// since Windows 10. Shells set it back.
func takeSequences(f *os.File) {
	const wanted = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil {
		windows.SetConsoleMode(windows.Handle(f.Fd()), mode|wanted)
	}
}
