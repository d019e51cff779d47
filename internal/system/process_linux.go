package system

import "golang.org/x/sys/unix"

// watchProcess returns a function that reports whether a process has ended: its last thread, which need not be
// its first. Linux before 5.3 has no descriptor for a process, and a sandbox may allow none.
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
