package fleet

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/lockedfile"
	"github.com/pollcli/poll/internal/turns"
)

const answerSuffix = ".answer"

const (
	// glance is how often files are looked at, if there are few; a look takes less than
	// glanceEach for each.
	glance, glanceEach = 50 * time.Millisecond, 50 * time.Microsecond
	// coarse is more than what the time of a change may be off: one that follows soon has
	// the same.
	coarse = 100 * time.Millisecond
	// stale is the age of an answer that nobody can be waiting for.
	stale = 24 * time.Hour
)

// swap has the record at the beginning of a file, and the answer behind it. Who is killed
// while it writes leaves an answer that cannot be opened.
func (d directory) swap(ctx context.Context, name string, g guess, change func(sheet) *edit) (at int64, err error) {
	f, closeIt, err := lockedfile.OpenLocked(ctx, d.answerFile(name), os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		if at = time.Now().UnixMicro(); change(sheet{now: at}) == nil { // a look makes no file
			return at, nil
		}
		f, closeIt, err = lockedfile.OpenLocked(ctx, d.answerFile(name), os.O_RDWR|os.O_CREATE)
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeIt()) }()
	var buffer [recordSize]byte
	n, err := f.ReadAt(buffer[:], 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	s := sheet{}
	if s.state, _ = turns.Parse(recordIn(buffer[:n])); s.state.Begun > g.known {
		s.sealed, err = io.ReadAll(io.NewSectionReader(f, recordSize, mostSealed))
		if err != nil {
			return 0, err
		}
	}
	s.now = time.Now().UnixMicro()
	made := change(s)
	if made == nil {
		return s.now, nil
	}
	if made.sealed != nil {
		if _, err := f.WriteAt(made.sealed, recordSize); err != nil {
			return 0, err
		}
		if err := f.Truncate(recordSize + int64(len(made.sealed))); err != nil {
			return 0, err
		}
	}
	return s.now, write(f, []byte(made.state.Record()))
}

func (d directory) answerFile(name string) string { return filepath.Join(string(d), name+answerSuffix) }

// A glimpse is what was seen of a file.
type glimpse struct {
	changed time.Time
	size    int64
	settled bool // a later change has another time
}

// watch looks at the files, since there is nobody who would tell.
func (d directory) watch(ctx context.Context, w *watched) {
	seen := map[string]glimpse{}
	for {
		names := w.names()
		for name := range names {
			now := time.Now()
			info, err := os.Lstat(d.answerFile(name))
			if err != nil {
				continue
			}
			was, is := seen[name], glimpse{changed: info.ModTime(), size: info.Size()}
			is.settled = now.Sub(is.changed).Abs() > coarse
			if was.settled && was.changed.Equal(is.changed) && was.size == is.size {
				continue
			}
			if w.look(name) {
				seen[name] = is
			}
		}
		for name := range seen {
			if !names[name] {
				delete(seen, name)
			}
		}
		select {
		case <-time.After(max(glance, time.Duration(len(names))*glanceEach)):
		case <-ctx.Done():
			return
		}
	}
}

// sweep removes the answers that nobody can be waiting for.
func (d directory) sweep() {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.Contains(entry.Name(), answerSuffix) || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > stale {
			os.Remove(filepath.Join(string(d), entry.Name()))
		}
	}
}
