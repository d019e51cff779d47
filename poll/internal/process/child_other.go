//go:build !linux

package process

import "syscall"

// ended reports whether the program is known to have ended.
func (c *child) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// endWithThread would end a program with the thread that has started it; here
// the system does not know how.
func endWithThread(*syscall.SysProcAttr) {}

// onlyZombies would report whether all members of a group have ended and wait
// for being reaped; here nobody knows.
func onlyZombies(int) bool { return false }
