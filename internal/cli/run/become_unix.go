//go:build unix

package run

import (
	"fmt"
	"os"
	"syscall"

	"github.com/pollcli/poll/internal/cli/read"
)

// become replaces the process by a program, and returns only if that fails. What is open
// but the standard streams closes itself, and caught signals have their default action
// again.
func become(path string, args []string) (ExitCode, error) {
	err := syscall.Exec(path, args, os.Environ())
	return ExitNotExecutable, fmt.Errorf("run %s: %w", read.ProgramName(args[0]), err)
}
