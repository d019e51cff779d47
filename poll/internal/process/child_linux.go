package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// endWithThread has the system send a program SIGTERM when the thread that has
// started it ends, which is when the process is killed or crashes.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// onlyZombies reports whether all members of a group have ended and wait to be reaped. In
// many containers process 1 never reaps them.
func onlyZombies(pgid int) (only bool) {
	group := strconv.Itoa(pgid)
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat") // or it is no process any more
		// "pid (name) state ppid pgrp ...", and the name may contain anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != group {
			continue
		}
		if only = fields[0][0] == 'Z' || fields[0][0] == 'X'; !only {
			return false
		}
	}
	return only
}
