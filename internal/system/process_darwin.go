package system

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startOf returns when a process started; "" if that is not known.
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
