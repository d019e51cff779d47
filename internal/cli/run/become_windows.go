package run

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/words"
)

// become runs the program at path and returns its exit code, because Windows cannot replace a process. Windows
// sends Ctrl-C, and the closing of the console window, to the program as well. The program does not belong to the
// job objects that end poll's commands, so it keeps running if poll is killed.
func become(path string, args []string) (ExitCode, error) {
	// cmd.exe starts in another directory if the working directory is on a network share. It then cannot find a batch
	// file by a relative path.
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	program, line, err := words.CommandLine(path, args)
	if err != nil {
		return ExitUsage, fmt.Errorf("%s: %w", read.ProgramName(args[0]), err)
	}
	dropped := make(chan os.Signal, 1) // discards Ctrl-C
	signal.Notify(dropped, os.Interrupt)
	defer signal.Stop(dropped)
	c := exec.Cmd{Path: program, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{CmdLine: line}}
	if err := c.Run(); c.ProcessState == nil { // the program has not started
		return ExitNotExecutable, fmt.Errorf("run %s: %w", read.ProgramName(args[0]), err)
	}
	return ExitCode(c.ProcessState.ExitCode()), nil
}
