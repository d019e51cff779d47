package system

import "golang.org/x/sys/unix"

// AdoptOrphans makes descendants of this process whose parent has ended its own children, which it
// can reap: process 1 of a container may not do that.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
