//go:build unix && !linux

package process

import "syscall"

// endWithThread does nothing: only Linux can end a program with the thread that has
// started it.
func endWithThread(*syscall.SysProcAttr) {}

// onlyZombies reports that it is not known whether all members of a group have ended.
func onlyZombies(int) bool { return false }
