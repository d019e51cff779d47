//go:build unix

package process

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepare returns the command that runs the program at path. args are the arguments, starting with the program's
// name. If group is true, the program becomes the leader of a new process group. The error is always nil: only
// Windows rejects arguments.
func prepare(path string, args []string, group bool) (*exec.Cmd, error) {
	attr := &syscall.SysProcAttr{Setpgid: group}
	endWithThread(attr)
	return &exec.Cmd{Path: path, Args: args, SysProcAttr: attr}, nil
}

const whyNotProgram = "not a program for this machine, nor a script that begins with #!"

// whyNever returns the reason why a program can never be started after execve(2) has failed with err. It returns ""
// if a later attempt may succeed.
func whyNever(err syscall.Errno) string {
	if err == syscall.ENOEXEC {
		return whyNotProgram
	}
	return ""
}

// A job is empty on Unix, where the process group holds the processes of a program. On Windows it is a job object.
type job struct{}

// launch starts cmd. The returned job is empty.
func launch(cmd *exec.Cmd) (job, error) { return job{}, cmd.Start() }

// release does nothing. On Unix, a child has no handle that must be closed.
func (c *child) release() {}

// ending returns the exit code of a program that has ended. If a signal has killed the program, signal is the name of
// the signal, such as "KILL", and exit is 128 plus the number of the signal, as in a shell. Otherwise signal is "".
func ending(state *os.ProcessState) (exit int, signal string) {
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal()), signalName(ws.Signal())
	}
	return ws.ExitStatus(), ""
}

// reap reaps child processes that have ended. It does not wait for running processes. children selects the processes
// as in wait4(2): -1 means all children, and the negative ID of a process group means the children in that group.
func reap(children int) {
	for pid := 1; pid > 0; {
		pid, _ = syscall.Wait4(children, nil, syscall.WNOHANG, nil)
	}
}

// terminate sends SIGTERM to the process group of c, or to the program if it has no group of its own. It then sends
// SIGCONT, because a suspended process handles SIGTERM only after it continues. It always returns true: on Unix the
// signal can always be sent.
func (c *child) terminate() (asked bool) {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
	return true
}

// kill sends SIGKILL to the process group of c, or to the program if it has no group of its own.
func (c *child) kill() error { return c.signal(syscall.SIGKILL) }

// signal sends sig to the process group of c, or to the program if it has no group of its own. Even if the program
// has ended, the signal reaches no unrelated group: the system does not reuse the ID of a group that has members.
func (c *child) signal(sig syscall.Signal) error {
	if c.group {
		return syscall.Kill(-c.cmd.Process.Pid, sig)
	}
	return c.cmd.Process.Signal(sig)
}

// empty reports whether the process group of c has no members, for a program that has ended. A process that has ended
// remains a member until its parent reaps it. If the program has no group of its own, empty returns true.
func (c *child) empty() bool {
	if !c.group {
		return true
	}
	reap(-c.cmd.Process.Pid) // needed if this process is process 1 or a subreaper, and thus the parent of orphans
	return errors.Is(c.signal(0), syscall.ESRCH)
}

// signalName returns the name of sig without "SIG", such as "TERM". If the signal has no name, it returns its number.
func signalName(sig syscall.Signal) string {
	return strings.TrimPrefix(cmp.Or(unix.SignalName(sig), strconv.Itoa(int(sig))), "SIG")
}
