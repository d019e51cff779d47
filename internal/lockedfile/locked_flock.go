//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockedfile

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// How long to wait for a lock that is held for microseconds: at first not at all.
const (
	yields                  = 10
	shortestNap, longestNap = 50 * time.Microsecond, 2 * time.Millisecond
)

// OpenLocked opens a file as OpenOwn does, and locks it as Lock does, for moments and often.
// Closing it unlocks it.
func OpenLocked(ctx context.Context, path string, flag int) (f *os.File, closeIt func() error, err error) {
	f, err = OpenOwn(path, flag)
	if err != nil {
		return nil, nil, err
	}
	nap := shortestNap
	for i := 0; ; i++ {
		err := tryLock(f)
		if err == nil {
			return f, f.Close, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			f.Close()
			return nil, nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if ctx.Err() != nil {
			f.Close()
			return nil, nil, fmt.Errorf("%w %s", ErrHeld, path)
		}
		if i < yields {
			runtime.Gosched()
			continue
		}
		time.Sleep(nap)
		nap = min(2*nap, longestNap)
	}
}

func tryLock(f *os.File) error {
	conn, err := f.SyscallConn() // unlike Fd, it leaves the file as it is
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == nil {
		err = failed
	}
	return err
}
