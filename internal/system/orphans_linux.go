package system

import "golang.org/x/sys/unix"

// AdoptOrphans makes this process the parent of its descendants whose own parent ends. This process can then
// reap them. Otherwise they go to process 1, which may not reap them in a container.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
