//go:build unix

package run

import (
	"fmt"
	"os"
	"syscall"

	"github.com/pollcli/poll/internal/cli/read"
)

// become replaces the current process with the program at path, and returns only if that fails. The program
// inherits only the standard streams, because poll's other files are closed on exec. Signals that poll catches
// have their default effect again.
func become(path string, args []string) (ExitCode, error) {
	err := syscall.Exec(path, args, os.Environ())
	return ExitNotExecutable, fmt.Errorf("run %s: %w", read.ProgramName(args[0]), err)
}
