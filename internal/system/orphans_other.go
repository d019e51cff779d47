//go:build !linux

package system

// AdoptOrphans does nothing: only Linux lets a process adopt orphans in the place of process 1.
func AdoptOrphans() {}
