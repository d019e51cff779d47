//go:build unix

package system

import "syscall"

// watchNumber returns a function that reports whether a process has ended, by its number and its start.
func watchNumber(pid int) (hasEnded func() bool) {
	start := startOf(pid)
	return func() bool { return !isAlive(pid, start) }
}

// isAlive reports whether there is a process of that number that started then.
func isAlive(pid int, start string) bool {
	now := startOf(pid)
	isAnother := start != "" && now != "" && now != start
	return syscall.Kill(pid, 0) != syscall.ESRCH && now != zombie && !isAnother
}

// zombie stands for the start of a process that has ended.
const zombie = "Z"
