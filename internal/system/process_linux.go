package system

import "golang.org/x/sys/unix"

// watchProcess returns a function that reports whether the last thread of the process pid has ended. The first
// thread may end earlier. Linux before 5.3 and some sandboxes have no descriptors for processes. There the
// function reads the state of the process.
func watchProcess(pid int) (hasEnded func() bool, err error) {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return watchNumber(pid), nil
	}
	return func() bool { // the descriptor is readable once the process has ended
		ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, 0)
		return ready > 0
	}, nil
}
