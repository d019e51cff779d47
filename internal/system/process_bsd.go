//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package system

import "golang.org/x/sys/unix"

// watchProcess returns what waits for the end of a process; nil if it has ended.
func watchProcess(pid int) (wait func(), err error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return look(pid), nil
	}
	unix.CloseOnExec(queue)
	change := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	switch _, err := unix.Kevent(queue, []unix.Kevent_t{change}, nil, nil); err {
	case nil:
	case unix.ESRCH:
		unix.Close(queue)
		return nil, nil
	default:
		unix.Close(queue)
		return look(pid), nil
	}
	return func() {
		defer unix.Close(queue)
		for {
			n, err := unix.Kevent(queue, nil, make([]unix.Kevent_t, 1), nil)
			if n > 0 || err != unix.EINTR {
				return
			}
		}
	}, nil
}
