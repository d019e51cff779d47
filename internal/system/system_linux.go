package system

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// startOf returns the start time of process pid, or [zombie] if the process has ended but still has an entry in the
// process table. It returns "" if the start time is unknown. The string is only suitable for comparisons.
//
// The state in /proc is the state of the first thread, which may end before the other threads. The process has
// ended only if no other thread remains.
func startOf(pid int) string {
	const state, threads, start = 0, 17, 19 // field indexes after the process name, which may contain any character
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	switch {
	case len(fields) <= start:
		return ""
	case bytes.ContainsAny(fields[state], "ZX") && slices.Contains([]string{"0", "1"}, string(fields[threads])):
		return zombie
	}
	return string(fields[start])
}

// AdoptOrphans makes this process the parent of any descendant whose own parent ends, so that this process can
// reap it. Otherwise process 1 would become the parent, and in some containers process 1 does not reap its
// children.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
