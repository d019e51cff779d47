// Package store keeps files that a run leaves to later runs: a [Log] of what targets came to,
// and a [History] of how long operations took.
//
// Both are JSON lines, for their user alone. A process appends a line in one call while it
// holds a lock, so a process that is killed at any moment leaves at most one torn line, which
// readers drop.
package store

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

// open opens a regular file of the user, which it creates with mode 0600 if flag says so. If
// others may write to the directory, the path may have become anything.
func open(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, fmt.Errorf("%s is a symbolic link, not a regular file", path)
	}
	f, err := os.OpenFile(path, flag|safeFlags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case !isOwn(info):
		err = fmt.Errorf("%s belongs to another user", path)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// isAt reports whether an open file is the one at a path, where it may have been replaced.
func isAt(f *os.File, path string) bool {
	info, err := f.Stat()
	now, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(info, now)
}

// lock locks a file, which it creates if need be, and returns what unlocks it. It waits for
// other processes until ctx is done; the error is then ErrHeld. On Windows the lock is
// beside the file.
func lock(ctx context.Context, path string) (unlock func() error, err error) {
	path += lockSuffix
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

// writeAt writes all of text at the end of a file, which is at that offset, or nothing: a full
// disk may have taken half of it. A file that is opened to append cannot be cut on Windows.
func writeAt(f *os.File, text []byte, end int64) error {
	_, err := f.WriteAt(text, end)
	if err != nil {
		f.Truncate(end) // otherwise readers drop the torn line
	}
	return err
}
