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

// prepare returns the command that starts the program at path with args, whose first element is the program's name. If
// group is true, the program leads a new process group. The error is always nil: only Windows rejects arguments.
func prepare(path string, args []string, group bool) (*exec.Cmd, error) {
	attr := &syscall.SysProcAttr{Setpgid: group}
	endWithThread(attr)
	return &exec.Cmd{Path: path, Args: args, SysProcAttr: attr}, nil
}

const whyNotProgram = "not a program for this machine, nor a script that begins with #!"

// whyNever returns the reason why a program can never start, for the error err of execve(2). It returns "" if a later
// start may succeed.
func whyNever(err syscall.Errno) string {
	if err == syscall.ENOEXEC {
		return whyNotProgram
	}
	return ""
}

// A job holds the processes of a program on Windows. On Unix a process group holds them, and job is empty.
type job struct{}

// launch starts cmd.
func launch(cmd *exec.Cmd) (job, error) { return job{}, cmd.Start() }

// release does nothing: a process group needs no handle.
func (c *child) release() {}

// ending returns the exit code of a program that has ended, and the name of the signal that killed the program, such as
// KILL. Like in a shell, exit is then 128 plus the number of the signal. signal is "" for a program that exited.
func ending(state *os.ProcessState) (exit int, signal string) {
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal()), signalName(ws.Signal())
	}
	return ws.ExitStatus(), ""
}

// reap reaps children of this process that have ended, without waiting. A value of -1 means all children, and the
// negative ID of a process group means the children in the group, as for wait4(2).
func reap(children int) {
	for pid := 1; pid > 0; {
		pid, _ = syscall.Wait4(children, nil, syscall.WNOHANG, nil)
	}
}

// terminate sends SIGTERM to the program and its group. It also sends SIGCONT, because a stopped process receives
// SIGTERM only when it continues. It always returns true: on Unix the signal can always be sent.
func (c *child) terminate() (asked bool) {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
	return true
}

// kill sends SIGKILL to the program and its group.
func (c *child) kill() error { return c.signal(syscall.SIGKILL) }

// signal sends sig to the group, or to the program if it has no group of its own. The system does not reuse the ID of a
// group while the group has a member, even if the program has ended.
func (c *child) signal(sig syscall.Signal) error {
	if c.group {
		return syscall.Kill(-c.cmd.Process.Pid, sig)
	}
	return c.cmd.Process.Signal(sig)
}

// empty reports whether the group of a program that has ended has no member left. A process that has ended stays a
// member until its parent reaps it. Without a group, empty returns true.
func (c *child) empty() bool {
	if !c.group {
		return true
	}
	reap(-c.cmd.Process.Pid) // process 1 and a subreaper are the parents of orphans
	return errors.Is(c.signal(0), syscall.ESRCH)
}

// signalName returns the name of sig without SIG, such as TERM, or its number if the signal has no name.
func signalName(sig syscall.Signal) string {
	return strings.TrimPrefix(cmp.Or(unix.SignalName(sig), strconv.Itoa(int(sig))), "SIG")
}
