package joblog

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"

	"github.com/pollcli/poll/internal/lockedfile"
)

// longAfter is how many lines a log may have before it is shortened, besides four for each
// target. Every run adds a line for each target that has not ended, and a wait may have
// hundreds of runs.
const longAfter = 1000

// shorten atomically replaces the file by one with a line for each target. If it cannot, as
// on a full disk, that is left to a later run.
func (l *Log) shorten() {
	// A fixed name, so that leftovers of killed runs do not pile up.
	path := l.path + ".next"
	os.Remove(path)
	next, err := lockedfile.OpenOwn(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return
	}
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

// writeShort writes what the log knows to a new file, and returns its size.
func (l *Log) writeShort(to *os.File) (int64, error) {
	text, err := json.Marshal(header{Version: version, Salt: hex.EncodeToString(l.salt)})
	text = append(text, '\n')
	for _, entries := range l.past {
		for _, e := range entries {
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
	}
	if err == nil {
		_, err = to.Write(text)
	}
	return int64(len(text)), errors.Join(err, to.Sync())
}
