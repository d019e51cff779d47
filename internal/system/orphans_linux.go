package system

import "golang.org/x/sys/unix"

// AdoptOrphans makes this process the parent of its descendants whose own parent ends, so that it can reap them.
// Otherwise process 1 is their parent, which does not reap children in some containers.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
