package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/pollcli/poll/internal/argv"
)

// become runs a program, since Windows has no exec, and returns its exit code. Ctrl-C
// comes to the program by itself.
func become(path string, args []string) (ExitCode, error) {
	dropped := make(chan os.Signal, 1) // never read
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c := exec.Command(path)
	c.Args = args
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ExitCode(ended.ExitCode()), nil
	}
	if err != nil {
		return ExitNotExecutable, fmt.Errorf("run %s: %w", argv.ProgramName(args[0]), err)
	}
	return ExitSuccess, nil
}
