package system

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// WriteFile replaces the content of the file at path with text, either completely or not at all. It creates the
// file if it does not exist. It writes directly to a pipe, a device or any other file that is not regular. Its
// errors do not contain path.
func WriteFile(path string, text []byte) error { return cause(replace(path, text, false)) }

// CheckFile returns an error if [WriteFile] cannot write the file at path, and nil otherwise. It does not change
// the file, and it does not open a pipe or a device. Its errors contain path.
func CheckFile(path string) error {
	if err := cause(replace(path, nil, true)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// replace writes text to a temporary file in the directory of path, and then renames it to path. As a result, a
// reader never sees a partial file, and an error leaves the old file unchanged. replace writes directly to a file
// that is not regular. If try is true, replace only creates and removes the temporary file.
func replace(path string, text []byte, try bool) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		if try && !info.IsDir() {
			return nil // if replace opened and closed the pipe, the pipe's reader would see the end of the data
		}
		return write(path, os.O_WRONLY, 0, text)
	}
	mode := fs.FileMode(0o666) // the umask applies to this mode
	if err == nil {
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	dir, name := filepath.Split(path)
	temporary := filepath.Join(dir, fmt.Sprintf(".%s.%016x", name, rand.Uint64()))
	err = write(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode, text)
	if err == nil && !try {
		err = rename(temporary, path)
	}
	if err != nil || try {
		os.Remove(temporary)
	}
	return err
}

// write opens the file at path with flags and mode, writes text, and closes the file. It also returns an error from
// closing the file, because some file systems report a full disk only then.
func write(path string, flags int, mode fs.FileMode, text []byte) error {
	f, err := os.OpenFile(path, flags, mode)
	if err != nil {
		return err
	}
	if len(text) > 0 { // a device may reject even an empty write
		_, err = f.Write(text)
	}
	f.Sync() // makes a machine crash leave either the old or the new file; devices may return an error, which is ignored
	return cmp.Or(err, f.Close())
}

// rename renames a file by os.Rename(from, to), which replaces an existing file. On Windows, os.Rename fails while
// another process, such as a virus scanner, has either file open, so rename retries for about a second.
func rename(from, to string) error {
	const longestPause = 512 * time.Millisecond
	for pause := time.Millisecond; ; pause *= 2 {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || pause > longestPause {
			return err
		}
		time.Sleep(pause)
	}
}

// cause returns the error that err wraps, or err itself if it wraps no error. The result lacks the path in err,
// which may be the path of a temporary file.
func cause(err error) error { return cmp.Or(errors.Unwrap(err), err) }

// ErrHeld is the error that [Lock] returns if another process still holds the lock when the context is done.
var ErrHeld = errors.New("another process holds")

// OpenOwn opens the regular file at path, which must belong to the current user. If flag contains os.O_CREATE,
// OpenOwn creates a missing file with mode 0600. It fails if path is a symbolic link, if the file is not regular, or
// if another user owns the file. These checks protect files in directories where other users can create files.
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

// IsAt reports whether path still names the open file f. It returns false if the file was replaced or removed.
func IsAt(f *os.File, path string) bool {
	info, err := f.Stat()
	now, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(info, now)
}

// Lock locks the file at path, and returns a function that unlocks it. It creates the file if it does not exist.
// If another process holds the lock, Lock waits until ctx is done, and then returns [ErrHeld]. On Windows, it
// locks the file path + ".lock" instead.
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

// WriteAt appends text to f at the offset end, which must be the file's current length. If the write fails, for
// example because the disk is full, WriteAt truncates the file to its previous length. The file f must not be
// opened with os.O_APPEND.
func WriteAt(f *os.File, text []byte, end int64) error {
	_, err := f.WriteAt(text, end)
	if err != nil {
		f.Truncate(end) // if this fails, too, readers ignore the incomplete line
	}
	return err
}

// StateDir returns the directory for the part of poll's state called name: history or slices. The directory is
// $XDG_STATE_HOME/poll/NAME, ~/.local/state/poll/NAME or %LocalAppData%\poll\NAME. StateDir does
// not create the directory. It returns an error if no environment variable names a directory.
func StateDir(getenv func(string) string, name string) (string, error) {
	if dir := UserDir(getenv, name, "XDG_STATE_HOME", ".local/state", "LocalAppData"); dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("there is no directory for %s: neither XDG_STATE_HOME nor HOME is an absolute path", name)
}

// UserDir returns the directory of the current user for the files of poll that name describes. Its parent is
// the directory poll in one of three places: the value of the variable xdg, the directory local below HOME, or
// the value of the variable windows. UserDir uses the first of these that is an absolute path, as the XDG Base
// Directory Specification requires. It returns "" if none is an absolute path.
func UserDir(getenv func(string) string, name, xdg, local, windows string) string {
	for _, base := range []string{getenv(xdg), filepath.Join(getenv("HOME"), local), getenv(windows)} {
		if filepath.IsAbs(base) {
			return filepath.Join(base, "poll", name)
		}
	}
	return ""
}
