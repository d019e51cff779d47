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

// ErrHeld is the error of [Lock] if another process holds the lock until the context is done.
var ErrHeld = errors.New("another process holds")

// OpenOwn opens the regular file at path for the current user. If flag has os.O_CREATE, it creates a missing
// file with mode 0600. It fails if path is a symbolic link, another kind of file, or a file of another user:
// where other users may write to the directory, they can put anything there.
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

// IsAt reports whether the open file f is still the file at path. It returns false if the file was replaced or
// removed.
func IsAt(f *os.File, path string) bool {
	info, err := f.Stat()
	now, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(info, now)
}

// Lock locks the file at path, and returns a function that unlocks the file. It creates a missing file. It waits
// for other processes until ctx is done, and then returns [ErrHeld]. On Windows it locks the file path + ".lock"
// instead.
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

// WriteAt writes all of text at the offset end, which is the end of the file, or nothing. If the disk is full,
// WriteAt cuts off the part that was written. f must not be open with os.O_APPEND.
func WriteAt(f *os.File, text []byte, end int64) error {
	_, err := f.WriteAt(text, end)
	if err != nil {
		f.Truncate(end) // if this fails, too, readers drop the torn line
	}
	return err
}

// StateDir returns the directory for the state of poll that is called name, history or slices. It is
// $XDG_STATE_HOME/poll/NAME, or ~/.local/state/poll/NAME if the variable is not an absolute path (XDG Base
// Directory Specification). On Windows without HOME it is %LocalAppData%\poll\NAME. The directory need not
// exist. StateDir fails if no variable names a directory.
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
