package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld says that another process has held the lock for too long.
var ErrHeld = errors.New("another process holds")

// Read returns the past runs, oldest first, and a warning in words for what
// was skipped. A history that does not exist has none.
func (s Store) Read(name string) (records []Record, warnings []string, err error) {
	path, err := s.path(name)
	if err != nil {
		return nil, nil, err
	}
	text, _, err := readEnd(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read history %s: %w", name, err)
	}
	records, skipped, reason := parse(text)
	switch {
	case skipped == 1:
		warnings = append(warnings, fmt.Sprintf("history %s: a line is skipped: %v", name, reason))
	case skipped > 1:
		warnings = append(warnings, fmt.Sprintf("history %s: %d lines are skipped, the first: %v", name, skipped, reason))
	}
	return records, warnings, nil
}

// Append adds a run, making the directory (mode 0700) and the file (mode 0600)
// if need be. No run of another process is lost by it; if it fails or is
// killed, at most this one is. It waits for them until ctx is done.
func (s Store) Append(ctx context.Context, name string, r Record) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	text, err := r.encode()
	if err == nil {
		err = os.MkdirAll(s.Dir, 0o700)
	}
	if err == nil {
		err = s.locked(ctx, func() error { return add(path, text) })
	}
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
	if _, err = os.Lstat(path); err == nil {
		err = s.locked(ctx, func() error { return os.Remove(path) })
	}
	if err != nil {
		return fmt.Errorf("forget history %s: %w", name, err)
	}
	return nil
}

// locked calls f while no other process writes to the directory. The lock is a
// file of its own, since the histories are replaced.
func (s Store) locked(ctx context.Context, f func() error) error {
	path := filepath.Join(s.Dir, ".lock")
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("lock: %s is not a regular file", path)
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|os.O_CREATE|safeFlags), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 2*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w %s", ErrHeld, path)
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
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		text = append([]byte("\n"), text...)
	}
	if err := write(path, text); err != nil {
		return err
	}
	if !all || bytes.Count(before, []byte("\n")) >= maxLines {
		// The run is in the file by now. What cannot be shortened, such as a file
		// in a directory that nobody may write to, is left to a later run.
		_ = shorten(path, append(before, text...))
	}
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

// shorten replaces the file, as a whole and following no link, by the newest of
// the runs in text.
func shorten(path string, text []byte) error {
	// One name, so that what a killed writer leaves behind does not gather.
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".next")
	os.Remove(name)
	next, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	records, _, _ := parse(text)
	var short []byte
	for _, r := range newest(records) {
		line, e := r.encode()
		short, err = append(short, line...), errors.Join(err, e)
	}
	if err == nil {
		_, err = next.Write(short)
	}
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// readEnd returns the last lines of a regular file, as many as a history may have,
// and whether they are all.
func readEnd(path string) (text []byte, all bool, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist), err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	const longest = maxLines * longestLine
	skip := max(0, info.Size()-longest)
	text, err = io.ReadAll(io.NewSectionReader(f, skip, longest+longestLine))
	if skip == 0 {
		return text, true, err
	}
	if _, lines, ok := bytes.Cut(text, []byte("\n")); ok {
		text = lines
	}
	return text, false, err
}

// openRegular opens a regular file. Where others may write in the directory it
// may be anything by now.
func openRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|safeFlags, 0o600)
	if err != nil {
		if info, lstat := os.Lstat(path); lstat == nil && info.Mode().Type() == fs.ModeSymlink {
			err = fmt.Errorf("%s is a symbolic link, not a regular file", path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
