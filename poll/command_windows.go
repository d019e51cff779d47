package poll

import "github.com/pollcli/poll/poll/internal/process"

// CommandLine returns the program to start for the one at path, and its command line for
// [syscall.SysProcAttr], "" for that of os/exec. It is what a [Command] does for cmd.exe and
// for batch files, which do not read the quoting of other programs. args[0] is the name of the
// program. The error says why a batch file cannot be given its arguments safely.
func CommandLine(path string, args []string) (program, line string, err error) {
	return process.CommandLine(path, args)
}
