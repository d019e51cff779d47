package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/words"
)

// become runs a program, since Windows has no exec, and returns its exit code. Ctrl-C
// comes to the program by itself, and so does the end of a console. The program is in no
// job of poll's: it goes on if poll is killed.
func become(path string, args []string) (ExitCode, error) {
	// Elsewhere batch files are not found, as where a share is the working directory.
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	program, line, err := words.CommandLine(path, args)
	if err != nil {
		return ExitUsage, fmt.Errorf("%s: %w", read.ProgramName(args[0]), err)
	}
	dropped := make(chan os.Signal, 1) // never read
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c := exec.Cmd{Path: program, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{CmdLine: line}}
	err = c.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ExitCode(ended.ExitCode()), nil
	}
	if err != nil {
		return ExitNotExecutable, fmt.Errorf("run %s: %w", read.ProgramName(args[0]), err)
	}
	return ExitSuccess, nil
}
