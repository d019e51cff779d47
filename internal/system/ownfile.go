package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld reports that another process held the lock for too long.
var ErrHeld = errors.New("another process holds")

// OpenOwn opens a regular file of the user, which it creates with mode 0600 if flag says so. If
// others may write to the directory, the path may have become anything.
func OpenOwn(path string, flag int) (*os.File, error) {
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

// WriteAt writes all of text at the end of a file, which is at that offset, or nothing: a full
// disk may have taken half of it. A file that is opened to append cannot be cut on Windows.
func WriteAt(f *os.File, text []byte, end int64) error {
	_, err := f.WriteAt(text, end)
	if err != nil {
		f.Truncate(end) // otherwise readers drop the torn line
	}
	return err
}

// StateDir returns $XDG_STATE_HOME/poll/NAME, or ~/.local/state/poll/NAME
// if the variable is not an absolute path (XDG Base Directory Specification); on
// Windows, without a HOME, %LocalAppData%\poll\NAME. The names are history and slices.
func StateDir(getenv func(string) string, name string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "poll", name), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "poll", name), nil
	}
	if dir := getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "poll", name), nil
	}
	return "", fmt.Errorf("there is no place for %s: neither XDG_STATE_HOME nor HOME is set", name)
}
