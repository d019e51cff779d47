// Package lockedfile opens files that runs leave to later ones, and locks them.
package lockedfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld reports that another process held the lock for too long.
var ErrHeld = errors.New("another process holds")

// Open opens a regular file, which it creates with mode 0600 if flag says so. If others may
// write to the directory, the path may have become anything.
func Open(path string, flag int) (*os.File, error) {
	return open(path, flag, func(fs.FileInfo) bool { return true })
}

// OpenOwn is like Open, but refuses the file of another user.
func OpenOwn(path string, flag int) (*os.File, error) { return open(path, flag, Own) }

func open(path string, flag int, mayBe func(fs.FileInfo) bool) (*os.File, error) {
	const follows = safeFlags == 0 // then a link is refused only if it is there already
	if info, err := os.Lstat(path); follows && err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, linkError(path)
	}
	f, err := os.OpenFile(path, flag|safeFlags, 0o600)
	if err != nil {
		if info, lstat := os.Lstat(path); lstat == nil && info.Mode().Type() == fs.ModeSymlink {
			err = linkError(path)
		}
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case !mayBe(info):
		err = fmt.Errorf("%s belongs to another user", path)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link, not a regular file", path)
}

// IsAt reports whether an open file is the one at a path, where it may have been replaced.
func IsAt(f *os.File, path string) bool {
	info, err := f.Stat()
	now, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(info, now)
}

// Lock locks a file, which it creates if need be, and returns what unlocks it. It waits for
// other processes until ctx is done; the error is then ErrHeld. On Windows the lock is
// beside the file.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	path += besides
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock: %s is not a regular file", path)
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|os.O_CREATE|safeFlags), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 2*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w %s", ErrHeld, path)
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return lock.Close, nil
}
