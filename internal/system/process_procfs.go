//go:build unix && !darwin

package system

import (
	"bytes"
	"fmt"
	"os"
	"slices"
)

// startOf returns when a process started, as Linux tells it; "" if that is not known. The state is that of the first
// thread, which may end before the others.
func startOf(pid int) string {
	const state, threads, start = 0, 17, 19 // of the fields behind the name, which may hold anything
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
