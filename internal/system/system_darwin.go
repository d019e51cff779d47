package system

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startOf returns the start time of the process pid, or [zombie] if the process has ended. It returns "" if the
// start is unknown. The format is only good for comparisons.
func startOf(pid int) string {
	const hasEnded = 5 // SZOMB of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case err != nil:
		return ""
	case info.Proc.P_stat == hasEnded:
		return zombie
	}
	return fmt.Sprint(info.Proc.P_starttime)
}

// AdoptOrphans does nothing: only Linux lets a process adopt orphans in the place of process 1.
func AdoptOrphans() {}
