//go:build !linux && !darwin

package system

// startOf returns "": poll cannot determine process start times on this system.
func startOf(int) string { return "" }

// AdoptOrphans does nothing: only on Linux can a process other than process 1 become the parent of orphaned
// processes.
func AdoptOrphans() {}
