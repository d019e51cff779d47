package system

import "golang.org/x/sys/unix"

// watchProcess returns what waits for the end of a process; nil if it has ended.
func watchProcess(pid int) (wait func(), err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case err == unix.ESRCH:
		return nil, nil
	case err != nil: // an old kernel, or a sandbox that does not know the call
		return look(pid), nil
	case endsWithin(fd, 0):
		unix.Close(fd)
		return nil, nil
	}
	return func() {
		defer unix.Close(fd)
		endsWithin(fd, -1)
	}, nil
}

// endsWithin reports whether the process of a pidfd ends within a time in milliseconds; -1
// means for ever.
func endsWithin(fd, timeout int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, timeout)
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// AdoptOrphans makes descendants of this process whose parent has ended its own children, which it
// can reap: process 1 of a container may not do that.
func AdoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
