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

// prepare returns the command that starts the program at path.
func prepare(path string, args []string, group bool) (*exec.Cmd, error) {
	attr := &syscall.SysProcAttr{Setpgid: group}
	endWithThread(attr)
	return &exec.Cmd{Path: path, Args: args, SysProcAttr: attr}, nil
}

const whyNotProgram = "not a program for this machine, nor a script that begins with #!"

// whyNever says what is wrong with a program for which execve(2) fails with an error that
// will not pass, "" for an error that may.
func whyNever(err syscall.Errno) string {
	if err == syscall.ENOEXEC {
		return whyNotProgram
	}
	return ""
}

// A job holds a program on Windows. Here its process group does.
type job struct{}

func launch(cmd *exec.Cmd) (job, error) { return job{}, cmd.Start() }

func (c *child) release() {}

// ending returns how a program has ended.
func ending(state *os.ProcessState) (exit int, signal string) {
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal()), signalName(ws.Signal())
	}
	return ws.ExitStatus(), ""
}

// reap reaps the children of this process that have ended: -1 is all of them, and a negative
// number those of a group.
func reap(children int) {
	for pid := 1; pid > 0; {
		pid, _ = syscall.Wait4(children, nil, syscall.WNOHANG, nil)
	}
}

// terminate asks the program and its group to end, which always can be asked. A stopped
// process has to be continued to hear of it.
func (c *child) terminate() (asked bool) {
	c.tell(syscall.SIGTERM)
	c.tell(syscall.SIGCONT)
	return true
}

func (c *child) kill() error { return c.tell(syscall.SIGKILL) }

// tell sends a signal. The number of a group is not reused while the group has a member,
// even if the program has ended.
func (c *child) tell(sig syscall.Signal) error {
	if c.group {
		return syscall.Kill(-c.cmd.Process.Pid, sig)
	}
	return c.cmd.Process.Signal(sig)
}

// empty reports whether the group of a program that has ended has no member left. One that has
// ended is a member until its parent reaps it.
func (c *child) empty() bool {
	if !c.group {
		return true
	}
	reap(-c.cmd.Process.Pid) // as process 1 and a subreaper have to
	return errors.Is(c.tell(0), syscall.ESRCH)
}

func signalName(sig syscall.Signal) string {
	return strings.TrimPrefix(cmp.Or(unix.SignalName(sig), strconv.Itoa(int(sig))), "SIG")
}
