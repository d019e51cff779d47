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
// on a full disk, that is left to a later run.
func (l *Log) shorten() {
	if runtime.GOOS == "windows" { // a file that is open cannot be replaced there
		return
	}
	next, err := l.besides()
	if err != nil {
		return
	}
	path := next.Name()
	unlock, err := lockedfile.Lock(context.Background(), path)
	if err == nil {
		var size int64
		if size, err = l.writeShort(next); err == nil {
			err = os.Rename(path, l.path)
		}
		if err == nil {
			old, unlockOld := l.file, l.unlock
			l.file, l.size = next, size
			l.unlock = func() error { return errors.Join(unlock(), old.Close(), unlockOld()) }
			return
		}
		unlock()
	}
	next.Close()
	os.Remove(path)
}

// besides opens a new file in the same directory, whose name is nobody's.
func (l *Log) besides() (*os.File, error) {
	created, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*.next") // with mode 0600
	if err != nil {
		return nil, err
	}
	file, err := lockedfile.OpenOwn(created.Name(), os.O_RDWR|os.O_APPEND)
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
		case e.Ended:
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
