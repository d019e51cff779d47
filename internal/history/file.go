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

	"github.com/pollcli/poll/internal/lockedfile"
)

// ErrHeld reports that another process held the lock for too long.
var ErrHeld = lockedfile.ErrHeld

// Read returns the past runs, oldest first, and a warning if lines were skipped. A
// history that does not exist has no runs.
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

// Append adds a run, making the directory (mode 0700) and the file (mode 0600) if
// need be. It waits for other processes until ctx is done, and loses none of their
// runs; if it fails or is killed, at most this one is lost.
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

// Forget removes a history, once no one writes. The error is [fs.ErrNotExist] if
// there is none.
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

// locked calls f while no other process writes to the directory. The lock has its
// own file, since the histories get replaced.
func (s Store) locked(ctx context.Context, f func() error) error {
	unlock, err := lockedfile.Lock(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}

// add writes a line at the end of the file, on a line of its own even if the last
// writer was killed midway, and shortens a long file.
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
		// The run is in the file by now. If it cannot be shortened, as in a
		// read-only directory, that is left to a later run.
		_ = shorten(path, append(before, text...))
	}
	return nil
}

// write appends all of text to the file, or nothing. What was opened to be appended to could
// not be cut on Windows, and the lock keeps others from writing.
func write(path string, text []byte) error {
	f, err := lockedfile.Open(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(text, info.Size()); err != nil {
		// A full disk may have taken half of it.
		return errors.Join(err, f.Truncate(info.Size()))
	}
	return f.Close()
}

// shorten atomically replaces the file, following no link, by the newest runs in
// text.
func shorten(path string, text []byte) error {
	// A fixed name, so that leftovers of killed writers do not pile up.
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
// and whether that is all of them.
func readEnd(path string) (text []byte, all bool, err error) {
	f, err := lockedfile.Open(path, os.O_RDONLY)
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
