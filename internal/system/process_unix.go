//go:build unix

package system

import "syscall"

// watchProcess returns what reports whether a process has ended.
func watchProcess(pid int) (hasEnded func() bool, err error) {
	start := startOf(pid)
	return func() bool { return !isAlive(pid, start) }, nil
}

// isAlive reports whether there is a process of that number that started then.
func isAlive(pid int, start string) bool {
	now := startOf(pid)
	isAnother := start != "" && now != "" && now != start
	return syscall.Kill(pid, 0) != syscall.ESRCH && now != zombie && !isAnother
}

// zombie stands for the start of a process that has ended.
const zombie = "Z"
