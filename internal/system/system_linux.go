package system

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// startOf returns the start time of the process pid, or [zombie] if the process has ended. It returns "" if the
// start is unknown. The format is only good for comparisons. The state in /proc is the state of the first thread,
// which may end earlier than the rest. The process has ended only if no other thread is left.
func startOf(pid int) string {
	const state, threads, start = 0, 17, 19 // indexes of the fields after the name; the name may hold any character
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

// AdoptOrphans makes this process the parent of its descendants whose own parent ends, so that it can reap them.
// Otherwise process 1 is their parent, which does not reap children in some containers.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
