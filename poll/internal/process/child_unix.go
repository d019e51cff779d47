//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// prepare returns what starts the program at path.
func prepare(path string, args []string, group bool) (*exec.Cmd, error) {
	attr := &syscall.SysProcAttr{Setpgid: group}
	endWithThread(attr)
	return &exec.Cmd{Path: path, Args: args, SysProcAttr: attr}, nil
}

// Errors of execve(2).
const (
	notPermitted = syscall.EACCES
	notProgram   = syscall.ENOEXEC

	whyNotProgram = "not a program for this machine, nor a script that begins with #!"
)

// mayRun says that any file may be run: execve(2) shows whether it can be.
func mayRun(string) bool { return true }

// forbidden reports nothing: execve(2) has no further errors that will not pass.
func forbidden(syscall.Errno) bool { return false }

// A job holds a program on Windows. Here its process group does.
type job struct{}

func launch(cmd *exec.Cmd) (job, error) { return job{}, cmd.Start() }

// wait reaps the program. It uses wait4, which alone reports one that was stopped.
func (c *child) wait() {
	options := 0
	if c.group {
		options = syscall.WUNTRACED
	}
	for {
		_, ws, err := wait4(c.pid, options)
		switch {
		case err != nil:
			c.err = err
			return
		case ws.Stopped():
			if sig := ws.StopSignal(); sig == syscall.SIGTTIN || sig == syscall.SIGTTOU {
				select {
				case c.terminal <- struct{}{}:
				default:
				}
			}
		case ws.Signaled(), ws.Exited():
			c.end(ws)
			return
		}
	}
}

// wait4 is wait4(2), repeated when a signal interrupts it.
func wait4(pid, options int) (reaped int, ws syscall.WaitStatus, err error) {
	for {
		reaped, err = syscall.Wait4(pid, &ws, options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return reaped, ws, err
		}
	}
}

// end records how the program has ended.
func (c *child) end(ws syscall.WaitStatus) {
	c.exit, c.err = ws.ExitStatus(), nil
	if ws.Signaled() {
		c.exit, c.signal = 128+int(ws.Signal()), signalName(ws.Signal())
	}
}

// reapOrphans reaps every child of this process that has ended. The program may
// be one of them: then its own waiting fails, and how it ended is known here.
func (c *child) reapOrphans() {
	for {
		pid, ws, err := wait4(-1, syscall.WNOHANG)
		if err != nil || pid <= 0 {
			return
		}
		if pid == c.pid {
			<-c.exited
			c.end(ws)
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

func (c *child) kill() { c.tell(syscall.SIGKILL) }

func (c *child) tell(sig syscall.Signal) {
	if c.group {
		// This works even if the program has ended: its number is not reused while the
		// group has a member.
		syscall.Kill(-c.pid, sig)
		return
	}
	select {
	case <-c.exited: // and reaped: the number may be another's by now
	default:
		c.process.Signal(sig)
	}
}

// empty reports whether the group of a program that has ended has no member left. Members
// that wait to be reaped do not count if thorough is true: finding them is costly.
func (c *child) empty(thorough bool) bool {
	if !c.group {
		return true
	}
	// As process 1, poll has to reap orphans itself.
	for reaped := 1; reaped > 0; {
		reaped, _, _ = wait4(-c.pid, syscall.WNOHANG)
	}
	if errors.Is(syscall.Kill(-c.pid, 0), syscall.ESRCH) {
		return true
	}
	return thorough && onlyZombies(c.pid)
}

func (c *child) release() { c.process.Release() }

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return strconv.Itoa(int(sig))
}

// drainTime is the least time for reading what a program wrote before it ended. None is
// needed: see rest.
const drainTime = 0

// interrupt ends the reading of a pipe.
func interrupt(r *os.File) { r.SetReadDeadline(time.Unix(1, 0)) }

// rest reads what is in a pipe whose reading was interrupted, without waiting
// for more. It reports whether the pipe is still held open.
//
// What the program wrote before it ended fits into the pipe. Anything beyond that was
// written by another process.
func rest(r *os.File, s sink) (held bool) {
	const most = 1 << 20 // of what a pipe can hold (fs.pipe-max-size)
	r.SetReadDeadline(time.Time{})
	raw, err := r.SyscallConn()
	if err != nil {
		return false
	}
	held = true
	for read := 0; read < most; {
		buf := s.room()
		n := 0
		raw.Read(func(fd uintptr) bool {
			for {
				if n, err = syscall.Read(int(fd), buf); !errors.Is(err, syscall.EINTR) {
					return true // never wait
				}
			}
		})
		if n == 0 && err == nil {
			return false
		}
		if n <= 0 {
			break
		}
		s.Write(buf[:n])
		read += n
	}
	return held
}
