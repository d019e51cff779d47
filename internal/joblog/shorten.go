package joblog

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pollcli/poll/internal/lockedfile"
)

// longAfter is how many lines a log may have before it is shortened, besides four for each
// target. Every run adds a line for each target that has not ended, and a wait may have
// hundreds of runs.
const longAfter = 1000

// shorten atomically replaces the file by one with a line for each target. If it cannot, as
// on a full disk, that is left to a later run; an error means that there is no file any more.
func (l *Log) shorten() error {
	next, err := l.besides()
	if err != nil {
		return nil
	}
	size, err := l.writeShort(next)
	switch {
	case err != nil:
		next.Close()
	case runtime.GOOS == "windows":
		err = l.replaceClosed(next, size)
	default:
		err = l.replaceOpen(next, size)
	}
	if err != nil {
		os.Remove(next.Name())
	}
	if l.file == nil {
		return err
	}
	return nil
}

// replaceOpen puts next in the place of the file. Both are locked then, so that nobody has
// either.
func (l *Log) replaceOpen(next *os.File, size int64) error {
	unlock, err := lockedfile.Lock(context.Background(), next.Name())
	if err == nil {
		if err = os.Rename(next.Name(), l.path); err != nil {
			unlock()
		}
	}
	if err != nil {
		return errors.Join(err, next.Close())
	}
	old, unlockOld := l.file, l.unlock
	l.file, l.size = next, size
	l.unlock = func() error { return errors.Join(unlock(), old.Close(), unlockOld()) }
	return nil
}

// replaceClosed does so where no file can be replaced while it is open, and the lock is a
// file of its own. l.file is nil if it cannot be opened again.
func (l *Log) replaceClosed(next *os.File, size int64) error {
	err := errors.Join(next.Close(), l.file.Close())
	if err == nil {
		if err = os.Rename(next.Name(), l.path); err == nil {
			l.size = size
		}
	}
	file, failed := lockedfile.OpenOwn(l.path, os.O_RDWR)
	l.file = file
	return errors.Join(err, failed)
}

// besides opens a new file in the same directory, whose name is nobody's.
func (l *Log) besides() (*os.File, error) {
	created, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*.next") // with mode 0600
	if err != nil {
		return nil, err
	}
	file, err := lockedfile.OpenOwn(created.Name(), os.O_RDWR)
	if created.Close(); err != nil {
		os.Remove(created.Name())
	}
	return file, err
}

// writeShort writes what the log knows to a new file, and returns its size.
func (l *Log) writeShort(to *os.File) (int64, error) {
	text, err := json.Marshal(header{Version: version, Salt: hex.EncodeToString(l.salt)})
	text = append(text, '\n')
	add := func(e Entry) {
		event := eventWait
		switch {
		case e.Ended():
			event = eventEnd
		case e.Starting:
			event = eventStart
		}
		more, wrong := encode(event, e)
		text, err = append(text, more...), errors.Join(err, wrong)
	}
	for _, r := range l.past {
		if r.target != nil {
			add(*r.target)
		}
		for _, e := range r.elements {
			add(e)
		}
	}
	if err == nil {
		_, err = to.Write(text)
	}
	return int64(len(text)), errors.Join(err, to.Sync())
}
