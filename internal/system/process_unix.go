//go:build unix

package system

import "syscall"

// watchNumber returns a function that reports whether the process pid has ended. It recognizes the process by
// its number and its start.
func watchNumber(pid int) (hasEnded func() bool) {
	start := startOf(pid)
	return func() bool { return !isAlive(pid, start) }
}

// isAlive reports whether there is a process pid that started at start and has not ended. If start is "", any
// start will do.
func isAlive(pid int, start string) bool {
	now := startOf(pid)
	isAnother := start != "" && now != "" && now != start
	return syscall.Kill(pid, 0) != syscall.ESRCH && now != zombie && !isAnother
}

// zombie is the result of startOf for a process that has ended, while its parent has not yet waited.
const zombie = "Z"
