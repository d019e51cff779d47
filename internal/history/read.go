package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// mostBytes is how much of the end of a file is read.
const mostBytes = most * longestLine

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
	if skipped == 1 {
		warnings = append(warnings, fmt.Sprintf("history %s: a line is skipped: %v", name, reason))
	} else if skipped > 1 {
		warnings = append(warnings, fmt.Sprintf("history %s: %d lines are skipped, the first: %v", name, skipped, reason))
	}
	return records, warnings, nil
}

// parse returns the records of a text, how many lines are none, and why the
// first of these is none.
func parse(text []byte) (records []Record, skipped int, reason error) {
	number := 0
	for l := range bytes.Lines(text) {
		number++
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		r, err := decode(l)
		if err == nil {
			records = append(records, r)
			continue
		}
		if skipped++; skipped == 1 {
			reason = fmt.Errorf("line %d: %w", number, err)
		}
	}
	return records, skipped, reason
}

// readEnd returns the last lines of a regular file and whether they are all.
func readEnd(path string) (text []byte, all bool, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	skip := max(0, info.Size()-mostBytes)
	if _, err := f.Seek(skip, io.SeekStart); err != nil {
		return nil, false, err
	}
	text, err = io.ReadAll(io.LimitReader(f, mostBytes+longestLine))
	if skip == 0 {
		return text, true, err
	}
	if _, lines, ok := bytes.Cut(text, []byte("\n")); ok {
		text = lines
	}
	return text, false, err
}
