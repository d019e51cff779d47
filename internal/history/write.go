package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld says that another process writes, and has not come to an end.
var ErrHeld = errors.New("another process holds")

// Append adds a run, making the directory (mode 0700) and the file (mode 0600)
// if need be. No run of another process is lost by it; if it fails or is
// killed, at most this one is. It waits for them until ctx is done.
func (s Store) Append(ctx context.Context, name string, r Record) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	text, err := r.encode()
	if err != nil {
		return fmt.Errorf("add to history %s: %w", name, err)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("add to history %s: %w", name, err)
	}
	err = s.locked(ctx, func() error { return add(path, text) })
	if err != nil {
		return fmt.Errorf("add to history %s: %w", name, err)
	}
	return nil
}

// Forget removes a history, as soon as nobody writes. The error is
// [fs.ErrNotExist] if there is none.
func (s Store) Forget(ctx context.Context, name string) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err != nil {
		return fmt.Errorf("forget history %s: %w", name, err)
	}
	if err := s.locked(ctx, func() error { return os.Remove(path) }); err != nil {
		return fmt.Errorf("forget history %s: %w", name, err)
	}
	return nil
}

// locked calls f while no other process writes in the directory. The lock is a
// file of its own, since the histories are replaced.
func (s Store) locked(ctx context.Context, f func() error) error {
	path := filepath.Join(s.Dir, ".lock")
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("lock: %s is not a regular file", path)
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|os.O_CREATE|careful), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 2*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w %s", ErrHeld, lock.Path())
		}
		return fmt.Errorf("lock: %w", err)
	}
	defer lock.Unlock()
	return f()
}

// add writes a line at the end of the file, on a line of its own even if the
// last writer was killed in the middle of one, and shortens a file grown long.
func add(path string, text []byte) error {
	before, all, err := readEnd(path)
	if errors.Is(err, fs.ErrNotExist) {
		return write(path, text)
	}
	if err != nil {
		return err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		text = append([]byte("\n"), text...)
	}
	if err := write(path, text); err != nil {
		return err
	}
	if all && bytes.Count(before, []byte("\n")) < most {
		return nil
	}
	// The run is in the file by now. What cannot be shortened now, such as a file
	// in a directory that nobody may write to, is so by a later run.
	_ = rewrite(path, append(before, text...))
	return nil
}

// write appends text to the file, or nothing of it.
func write(path string, text []byte) error {
	f, err := openRegular(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		// A full disk may have taken half of it.
		return errors.Join(err, f.Truncate(info.Size()))
	}
	return f.Close()
}

// rewrite replaces the file by the newest of the runs in text.
func rewrite(path string, text []byte) error {
	records, _, _ := parse(text)
	var short []byte
	for _, r := range newest(records) {
		l, err := r.encode()
		if err != nil {
			return err
		}
		short = append(short, l...)
	}
	return replace(path, short)
}

// replace gives the file another content, as a whole.
func replace(path string, text []byte) error {
	next, err := os.CreateTemp(filepath.Dir(path), ".next-*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		os.Remove(next.Name())
	}
	return err
}
