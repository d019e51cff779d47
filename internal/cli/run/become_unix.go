//go:build unix

package run

import (
	"fmt"
	"os"
	"syscall"

	"github.com/pollcli/poll/internal/cli/read"
)

// become replaces the process by the program at path, and returns only if that fails. Open files are closed on
// exec, except the standard streams. Caught signals get their default action back.
func become(path string, args []string) (ExitCode, error) {
	err := syscall.Exec(path, args, os.Environ())
	return ExitNotExecutable, fmt.Errorf("run %s: %w", read.ProgramName(args[0]), err)
}
