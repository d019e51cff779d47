//go:build unix

package system

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

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

// startOf returns when a process started, in the words of Linux; "" if that is not known.
func startOf(pid int) string {
	const state, start = 0, 19 // of the fields behind the name, which may hold anything
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	switch {
	case len(fields) <= start:
		return ""
	case bytes.ContainsAny(fields[state], "ZX"):
		return zombie
	}
	return string(fields[start])
}
