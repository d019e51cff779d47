//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockedfile

import (
	"os"
	"syscall"
)

// tryLock locks a file unless another process has locked it.
func tryLock(f *os.File) (held bool, err error) {
	conn, err := f.SyscallConn() // unlike Fd, it leaves the file as it is
	if err != nil {
		return false, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == nil {
		err = failed
	}
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return true, nil
	}
	return false, err
}
