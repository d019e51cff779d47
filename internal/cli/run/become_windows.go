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

// become runs the program at path and returns its exit code, since Windows has no exec. Windows itself sends
// Ctrl-C and the closing of the console to the program. The program does not belong to poll's job objects, so
// it keeps running if poll is killed.
func become(path string, args []string) (ExitCode, error) {
	// Batch files with a relative path are not found if cmd.exe starts in a different directory, as with a
	// network share as working directory.
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	program, line, err := words.CommandLine(path, args)
	if err != nil {
		return ExitUsage, fmt.Errorf("%s: %w", read.ProgramName(args[0]), err)
	}
	dropped := make(chan os.Signal, 1) // never received from
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
