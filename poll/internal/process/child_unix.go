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

// prepare returns what starts the program at path.
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

// record notes how the program has ended.
func (c *child) record(state *os.ProcessState) { c.recordStatus(state.Sys().(syscall.WaitStatus)) }

func (c *child) recordStatus(ws syscall.WaitStatus) {
	c.known, c.exit = true, ws.ExitStatus()
	if ws.Signaled() {
		c.exit, c.signal = 128+int(ws.Signal()), signalName(ws.Signal())
	}
}

// reapOrphans reaps every child of this process that has ended. The program may
// be one of them: then its own waiting fails, and how it ended is known here.
func (c *child) reapOrphans() {
	for {
		var ws syscall.WaitStatus
		pid, _ := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if pid <= 0 {
			return
		}
		if c.cmd != nil && pid == c.cmd.Process.Pid {
			<-c.exited
			c.recordStatus(ws)
		}
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
	// As process 1, poll has to reap orphans itself.
	for pid := 1; pid > 0; {
		pid, _ = syscall.Wait4(-c.cmd.Process.Pid, nil, syscall.WNOHANG, nil)
	}
	return errors.Is(c.tell(0), syscall.ESRCH)
}

func signalName(sig syscall.Signal) string {
	return strings.TrimPrefix(cmp.Or(unix.SignalName(sig), strconv.Itoa(int(sig))), "SIG")
}
