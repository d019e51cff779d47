package process

import (
	"os"
	"time"
)

// A child is the program of one attempt, with its process group if it has one
// of its own.
type child struct {
	process *os.Process
	pid     int
	group   bool          // it leads a process group, whose number is pid
	exited  chan struct{} // closed when the program has ended and was reaped
	// terminal gets a value when the program was stopped because it wants the
	// terminal.
	terminal chan struct{}

	// Valid when exited is closed.
	exit   int
	signal string
	err    error // the exit code could not be had

	immortal bool // it could not be killed
}

// newChild waits for p, in a goroutine of its own.
func newChild(p *os.Process, group bool) *child {
	c := &child{process: p, pid: p.Pid, group: group, exited: make(chan struct{}), terminal: make(chan struct{}, 1)}
	go func() {
		c.wait()
		close(c.exited)
	}()
	return c
}

// release gives up what is kept for signalling the program.
func (c *child) release() { c.process.Release() }

// gone waits until the program has ended and its group is empty. It reports
// false if that takes longer than d or until hurry is closed.
func (c *child) gone(d time.Duration, hurry <-chan struct{}) bool {
	enough := time.NewTimer(d)
	defer enough.Stop()
	select {
	case <-c.exited:
	case <-enough.C:
		return false
	case <-hurry:
		return false
	}
	// Nothing tells when a group becomes empty, so it is asked for, at first
	// often: most end at once.
	for pause := time.Millisecond; !c.empty(pause); pause = min(2*pause, maxPause) {
		select {
		case <-time.After(pause):
		case <-enough.C:
			return false
		case <-hurry:
			return false
		}
	}
	return true
}

// maxPause is the longest pause between two looks at a group.
const maxPause = 32 * time.Millisecond
