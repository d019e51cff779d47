//go:build unix && !darwin

package system

import (
	"bytes"
	"fmt"
	"os"
)

// startOf returns when a process started, as Linux tells it; "" if that is not known.
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
