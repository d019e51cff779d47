package system

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startOf returns the start time of process pid, or [zombie] if the process has ended but still has an entry in the
// process table. It returns "" if the start time is unknown. The string is only suitable for comparisons.
func startOf(pid int) string {
	const hasEnded = 5 // SZOMB in sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case err != nil:
		return ""
	case info.Proc.P_stat == hasEnded:
		return zombie
	}
	return fmt.Sprint(info.Proc.P_starttime)
}

// AdoptOrphans does nothing: only on Linux can a process other than process 1 become the parent of orphaned
// processes.
func AdoptOrphans() {}
