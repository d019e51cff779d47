package process

import (
	"os"
	"syscall"
	"time"
)

func sysProcAttr(bool) *syscall.SysProcAttr { return nil }

// Errors of CreateProcess.
const (
	notPermitted = syscall.ERROR_ACCESS_DENIED
	notProgram   = syscall.Errno(193) // ERROR_BAD_EXE_FORMAT
)

// wait reaps the program.
func (c *child) wait() {
	state, err := c.process.Wait()
	if err != nil {
		c.err = err
		return
	}
	c.exit = state.ExitCode()
}

// terminate kills the program: there is no request to end that every program understands.
// What it has started lives on; to end that would take a job object.
func (c *child) terminate() { c.kill() }

func (c *child) kill() { c.process.Kill() }

func (c *child) reapOrphans() {}

func (c *child) empty(bool) bool { return true }

// drainTime is the least time for reading what a program wrote before it ended: closing
// the pipe loses it. It is little, so it is read quickly.
const drainTime = time.Second

// interrupt ends the reading of a pipe.
func interrupt(r *os.File) { r.Close() }

// rest would read what is left in the pipe, but closing the pipe has lost it.
func rest(*os.File, sink) (held bool) { return true }
