package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithThread has the system send a program SIGTERM when the thread that has
// started it ends, which is when the process is killed or crashes.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// ended reports whether the program has ended, reaped or not.
func (c *child) ended() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD || err == nil && info.Signo != 0
}

// onlyZombies reports whether all members of a group have ended and wait to be reaped. In
// many containers process 1 never reaps them.
func onlyZombies(pgid int) bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	want := strconv.Itoa(pgid)
	found := false
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		// "pid (name) state ppid pgrp ...", and the name may contain anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != want {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
		found = true
	}
	return found
}
