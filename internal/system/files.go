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

// WriteFile replaces the content of the file at path with text, completely or not at all. It creates a missing
// file. A file that is not regular, such as a pipe, is written in place. The error does not name path.
func WriteFile(path string, text []byte) error { return cause(replace(path, text, false)) }

// CheckFile returns nil if WriteFile could write the file at path, and otherwise an error that names path. It
// does not change the file. It does not open a pipe or a device.
func CheckFile(path string) error {
	if err := cause(replace(path, nil, true)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// replace writes text to a temporary file in the same directory and renames that file to path. A reader never
// sees a partial file, and an older file stays until the end. A file that is not regular is written in place. If
// try is true, replace only creates and removes the temporary file.
func replace(path string, text []byte, try bool) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		if try && !info.IsDir() {
			return nil // opening a pipe and closing it would end its reader
		}
		return write(path, os.O_WRONLY, 0, text)
	}
	mode := fs.FileMode(0o666) // minus the umask
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

// write opens the file with flags and mode, and writes text. It returns the error of closing the file, too: some
// file systems report only then that the disk is full.
func write(path string, flags int, mode fs.FileMode, text []byte) error {
	f, err := os.OpenFile(path, flags, mode)
	if err != nil {
		return err
	}
	if len(text) > 0 { // a device may reject even an empty write
		_, err = f.Write(text)
	}
	f.Sync() // after a crash of the machine there is the old file or the new file; the error of a device does not matter
	return cmp.Or(err, f.Close())
}

// rename renames the file from to the path to, and replaces a file there. On Windows, os.Rename fails while
// another process has either file open, as a virus scanner does for moments. There, rename tries again for about
// a second.
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

// cause returns err without its path, which may be the path of the temporary file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

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
