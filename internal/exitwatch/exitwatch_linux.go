package exitwatch

import "golang.org/x/sys/unix"

// open returns what waits for the end of a process; nil if it has ended.
func open(pid int) (wait func(), err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case err == unix.ESRCH:
		return nil, nil
	case err != nil: // an old kernel, or a sandbox that does not know the call
		return look(pid), nil
	case ended(fd, 0):
		unix.Close(fd)
		return nil, nil
	}
	return func() {
		defer unix.Close(fd)
		ended(fd, -1)
	}, nil
}

// ended reports whether the process of a pidfd ends within a time in milliseconds; -1
// means for ever.
func ended(fd, timeout int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, timeout)
		if err != unix.EINTR {
			return n > 0
		}
	}
}
