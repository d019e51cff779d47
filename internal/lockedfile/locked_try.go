//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package lockedfile

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"
)

// How long to wait for a lock that is held for microseconds: at first not at all.
const (
	yields                  = 10
	shortestNap, longestNap = 50 * time.Microsecond, 2 * time.Millisecond
)

// OpenLocked opens a file as OpenOwn does, and locks it, for moments and often; who locks it
// with Lock may be let in all the same. Closing it unlocks it.
func OpenLocked(ctx context.Context, path string, flag int) (f *os.File, closeIt func() error, err error) {
	f, err = OpenOwn(path, flag)
	if err != nil {
		return nil, nil, err
	}
	nap := shortestNap
	for i := 0; ; i++ {
		held, err := tryLock(f)
		if err == nil && !held {
			return f, f.Close, nil
		}
		if err != nil {
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
