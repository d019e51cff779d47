// Package joblog keeps what targets have come to in a file, so that a later run goes on with
// them: it skips those that have ended, and starts no operation twice.
//
// A job log is a file of JSON lines, for its user alone, to which one process at a time
// appends. The first line is a header; each other one is about a target: start, before a
// request that starts its operation is sent; follow, once that was answered; wait, where a
// run ended without it; and end. A line is written in one call. The last line counts of
// those about a target, but what a target was before its start never takes the place of
// that. One without a line break, which a run left that was killed or that found the disk
// full, is dropped. A file with many lines of earlier runs is replaced by one with a line
// for each target.
//
// Header values and passwords are not in a job log, but the URLs that are followed are.
package joblog

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/lockedfile"
	"github.com/pollcli/poll/poll"
)

const (
	// syncEvery is how long a line may be in the memory of the system only. A start never is.
	syncEvery = time.Second
	// patience is how long another process may have the file that is about to end.
	patience = 200 * time.Millisecond
)

// An Entry is what is known of a target, or of an element of its answers.
type Entry struct {
	ID   string  // see Log.ID
	Key  *string // of an element, nil for the target itself
	Name string  // for people
	Exit int     // the exit code, if the State has Ended
	poll.State
}

// A record is what was known of a target and, by their keys, of the elements of its answers.
type record struct {
	target   *Entry
	elements map[string]Entry
}

// A Log is a job log that is open. Its methods may be called on any goroutine.
type Log struct {
	path   string
	file   *os.File
	unlock func() error
	salt   []byte
	past   map[string]*record // by ID, as they were when the file was opened

	mu     sync.Mutex
	starts map[string]int // by ID, how many starts were sent before the last one that was noted
	size   int64          // of the whole lines
	lines  int            // that were read
	broken error          // why nothing can be written any more
	timer  *time.Timer
}

// Open opens a job log, and begins one if there is none. An error means that the file is
// none, or another process has it; the file is then as it was.
func Open(path string) (*Log, error) {
	file, err := lockedfile.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, file: file, past: make(map[string]*record), starts: make(map[string]int)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if l.unlock, err = lockedfile.Lock(ctx, path); errors.Is(err, lockedfile.ErrHeld) {
		err = fmt.Errorf("another process uses %s", path)
	}
	if err == nil {
		if err = l.begin(); err != nil {
			l.unlock()
		}
	}
	if err != nil {
		l.file.Close()
		return nil, err
	}
	return l, nil
}

// begin reads the file, or writes the header of a new one, and cuts off what is no whole
// line.
func (l *Log) begin() error {
	if !lockedfile.IsAt(l.file, l.path) { // another process has shortened it meanwhile
		return fmt.Errorf("another process uses %s", l.path)
	}
	err := l.read()
	switch {
	case err == nil:
		if err = l.file.Truncate(l.size); err == nil && l.lines > longAfter+4*l.Len() {
			err = l.shorten()
		}
	case errors.Is(err, errEmpty):
		err = l.writeHeader()
	}
	if err != nil {
		return err
	}
	return l.file.Chmod(0o600)
}

// writeHeader begins an empty file.
func (l *Log) writeHeader() error {
	l.salt = make([]byte, saltSize)
	rand.Read(l.salt) // never fails
	text, err := json.Marshal(header{Version: version, Salt: hex.EncodeToString(l.salt)})
	if err == nil {
		err = l.file.Truncate(0)
	}
	if err == nil {
		err = l.append(append(text, '\n'))
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(l.path)); err == nil { // its name is to stay, too
		dir.Sync()
		dir.Close()
	}
	return nil
}

// ID returns what a target is called in this log, given all that makes it this target. It
// tells nothing of that to whoever cannot guess it, and is another one in every log.
func (l *Log) ID(target []byte) string {
	mac := hmac.New(sha256.New, l.salt)
	mac.Write(target)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Len returns about how many targets and elements something was known when the log was
// opened.
func (l *Log) Len() (n int) {
	for _, r := range l.past {
		if r.target != nil {
			n++
		}
		n += len(r.elements)
	}
	return n
}

// Past returns what was known of a target and, by their keys, of the elements of its answers.
func (l *Log) Past(id string) (target *Entry, elements map[string]Entry) {
	if r := l.past[id]; r != nil {
		return r.target, r.elements
	}
	return nil, nil
}

// Started returns the IDs of the targets for which a start was noted before the log was
// opened, or was answered.
func (l *Log) Started() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id, r := range l.past {
			if t := r.target; t != nil && (t.Starting || t.Sent > 0) && !yield(id) {
				return
			}
		}
	}
}

// Start notes that a request is about to start the operation of a target. It returns once
// that will outlast a crash of the machine, in the file of that name; after an error the
// request must not be sent.
func (l *Log) Start(e Entry) error {
	text, err := encode(eventStart, e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.size
	if err = l.append(text); err == nil {
		if err = cmp.Or(l.file.Sync(), l.Lost()); err != nil {
			l.cut(before)
		}
	}
	if err == nil {
		l.starts[e.ID] = e.Sent
	}
	return l.failed(err)
}

// Follow notes that a request that starts an operation was answered. Where that is not
// known, the line of the start stays the last one.
func (l *Log) Follow(e Entry) error { return l.add(eventFollow, e, 0) }

// End notes how a target ended, or what it had come to when the run ended without it.
func (l *Log) End(e Entry) error {
	if e.Ended() {
		return l.add(eventEnd, e, syncEvery)
	}
	return l.add(eventWait, e, syncEvery)
}

// precedes reports whether an entry says less than the last start that was noted: nothing is
// known of its answer yet, or it had not been sent. The operation may have started.
func (l *Log) precedes(e Entry) bool {
	if e.Key != nil || e.Ended() {
		return false
	}
	before, noted := l.starts[e.ID]
	return e.Starting || noted && e.Sent <= before
}

// add writes a line, which is synced within a time, unless the start is the last word.
func (l *Log) add(event string, e Entry, within time.Duration) error {
	text, err := encode(event, e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.precedes(e) {
		return nil
	}
	if err := l.append(text); err != nil {
		return l.failed(err)
	}
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(within, l.sync)
	case within < syncEvery:
		l.timer.Reset(within)
	}
	return nil
}

func (l *Log) sync() {
	l.mu.Lock()
	l.timer = nil
	l.mu.Unlock()
	l.file.Sync()
}

// append writes all of a line, or nothing. What was opened to be appended to could not be cut
// on Windows, and nobody else writes.
func (l *Log) append(text []byte) error {
	if l.broken != nil {
		return l.broken
	}
	if _, err := l.file.WriteAt(text, l.size); err != nil {
		l.cut(l.size) // a full disk may have taken half of it
		return err
	}
	l.size += int64(len(text))
	return nil
}

// cut makes the file as long as it was.
func (l *Log) cut(size int64) {
	l.size = size
	if err := l.file.Truncate(size); err != nil {
		l.broken = err // what comes next would not be on a line of its own
	}
}

// Lost returns an error if no later run will find what is written, since another file, or
// none, has the name of this one.
func (l *Log) Lost() error {
	if lockedfile.IsAt(l.file, l.path) {
		return nil
	}
	return errors.New("it was removed or replaced while in use, and a later run would begin anew")
}

// failed says what an error was about.
func (l *Log) failed(err error) error {
	if err == nil {
		return nil
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("write job log %s: %w", l.path, err)
}

// Close makes what was written outlast a crash of the machine, and lets other processes use
// the file. It returns the error of Lost, too.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	err := cmp.Or(l.Lost(), l.file.Sync())
	l.broken = os.ErrClosed
	return l.failed(errors.Join(err, l.file.Close(), l.unlock()))
}
