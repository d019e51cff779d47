package store

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/poll"
)

// patience is how long OpenLog waits for another process, which may be about to end.
const patience = 200 * time.Millisecond

// ErrNotStarted reports that a request was not sent, since a job log does not have its start.
var ErrNotStarted = errors.New("nothing was started")

// An Event says why a line was written.
type Event string

// The events. An EventStart is noted before a request that starts an operation is sent, an
// EventFollow once that was answered. An EventWait says that a run ended before the target
// did, an EventEnd that the target has ended.
const (
	EventStart  Event = "start"
	EventFollow Event = "follow"
	EventWait   Event = "wait"
	EventEnd    Event = "end"
)

// An Entry is a line about a target, or about an element of its answers. Header values and
// passwords are not in it, but the URL that is followed is.
type Entry struct {
	Event Event      `json:"event"`
	At    time.Time  `json:"at"`
	ID    string     `json:"id"`            // see [ID]
	Key   *string    `json:"key,omitempty"` // of an element, nil for the target itself
	Name  string     `json:"name,omitempty"`
	Exit  *int       `json:"exit,omitempty"` // the exit code, if the State has Ended
	State poll.State `json:"state"`
}

// ID returns the name of a target in job logs, given all that identifies it.
func ID(identity []byte) string {
	sum := sha256.Sum256(identity)
	return hex.EncodeToString(sum[:16])
}

// A Log is an open job log: the last state of each target, so that a later run skips those that
// have ended and starts no operation twice. One process at a time has it. Its methods may be
// called on any goroutine.
type Log struct {
	path   string
	file   *os.File
	unlock func() error
	past   map[string]map[string]Entry // the last entries by ID, then by key, which is "" for a target

	mu   sync.Mutex
	sent map[string]int // by ID, how many starts are noted
	size int64          // of the whole lines
	err  error          // why a line was not written; none is after it
}

// OpenLog opens a job log, and begins one if there is none. It fails if the file is no job log, or
// another process has it, and leaves the file as it was.
func OpenLog(path string) (*Log, error) {
	l, err := openLog(path)
	if _, gone := os.Lstat(path); errors.Is(err, errLost) && gone == nil { // its last process has compacted it
		l, err = openLog(path)
	}
	return l, err
}

func openLog(path string) (*Log, error) {
	file, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, file: file, past: make(map[string]map[string]Entry), sent: make(map[string]int)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if l.unlock, err = lock(ctx, path); errors.Is(err, ErrHeld) {
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

// begin reads the file and cuts off a torn line, or writes the header of a new file.
func (l *Log) begin() error {
	if err := cmp.Or(l.lost(), l.read()); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err == nil && info.Size() != l.size { // otherwise it would look touched
		err = l.file.Truncate(l.size)
	}
	if err == nil && l.size == 0 {
		err = l.writeHeader()
	}
	return cmp.Or(err, l.file.Chmod(0o600))
}

// writeHeader makes the file a job log. Its name is to outlast a crash of the machine, too.
func (l *Log) writeHeader() error {
	if err := writeAt(l.file, []byte(header), 0); err != nil {
		return err
	}
	l.size = int64(len(header))
	l.syncName()
	return l.file.Sync()
}

// syncName makes the name of the file outlast a crash of the machine.
func (l *Log) syncName() {
	if dir, err := os.Open(filepath.Dir(l.path)); err == nil {
		defer dir.Close()
		dir.Sync()
	}
}

// Empty reports whether nothing was known when the log was opened.
func (l *Log) Empty() bool { return len(l.past) == 0 }

// Past returns what was known of a target when the log was opened.
func (l *Log) Past(id string) (e Entry, known bool) {
	e, known = l.past[id][""]
	return e, known && e.Key == nil
}

// Elements returns, by their keys, what was known of elements when the log was opened.
func (l *Log) Elements(id string) map[string]Entry { return l.past[id] }

// Started returns the targets for which a start was noted before the log was opened.
func (l *Log) Started() (targets []Entry) {
	for id := range l.past {
		if e, known := l.Past(id); known && (e.State.Starting || e.State.Sent > 0) {
			targets = append(targets, e)
		}
	}
	return targets
}

// Start notes that a request is about to start the operation of a target. It returns once
// that will outlast a crash of the machine, in the file of that name; after an error, which is
// ErrNotStarted, the request must not be sent.
func (l *Log) Start(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(EventStart, e)
	if l.err == nil {
		l.sent[e.ID] = e.State.Sent + 1
	}
	if err := cmp.Or(l.err, l.lost()); err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, l.failed(err))
	}
	return nil
}

// Follow notes that a request that starts an operation was answered. Where that is not
// known, the line of the start stays the last one. Close returns what has failed.
func (l *Log) Follow(e Entry) { l.add(EventFollow, e) }

// End notes how a target ended, or what it had come to when the run ended without it. Close
// returns what has failed.
func (l *Log) End(e Entry) {
	if e.State.Ended() {
		l.add(EventEnd, e)
	} else {
		l.add(EventWait, e)
	}
}

func (l *Log) add(event Event, e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.precedes(e) {
		l.write(event, e)
	}
}

// precedes reports whether an entry says less than the last start that was noted: nothing is
// known of its answer yet, or it had not been sent. The operation may have started.
func (l *Log) precedes(e Entry) bool {
	return e.Key == nil && !e.State.Ended() && (e.State.Starting || e.State.Sent < l.sent[e.ID])
}

// write writes a line, and syncs it at once if it is about a start. After a crash of the machine, a
// later run looks again at a target whose last line is lost. After an error it writes no more: the
// file may be full.
func (l *Log) write(event Event, e Entry) {
	if l.err != nil {
		return
	}
	e.Event, e.At = event, time.Now().UTC().Truncate(time.Millisecond)
	text, err := json.Marshal(e)
	if err == nil && len(text) >= longestLine {
		err = fmt.Errorf("a line of %d bytes is too long for a job log", len(text))
	}
	if err == nil {
		err = writeAt(l.file, append(text, '\n'), l.size)
	}
	if err == nil && e.Key == nil && (event == EventStart || l.sent[e.ID] > 0) {
		if err = l.file.Sync(); err != nil {
			l.file.Truncate(l.size) // a start that is not sent
		}
	}
	if l.err = err; err == nil {
		l.size += int64(len(text)) + 1
	}
}

// Err returns the error for which a later run will not find all entries, nil for none.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed(cmp.Or(l.err, l.lost()))
}

// lost returns an error if another file, or none, has the name of this one.
func (l *Log) lost() error {
	if isAt(l.file, l.path) {
		return nil
	}
	return errLost
}

var errLost = errors.New("it was removed or replaced during the run, so a later run would begin anew")

// failed adds to an error what was being done, and with which file.
func (l *Log) failed(err error) error {
	if err == nil {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("write job log %s: %w", l.path, err)
}

// Compact drops the lines that later lines supersede, if these are half of the file. Close has to follow: another
// process may open the new file at once. After a failure, or a kill at any moment, the old file is there.
func (l *Log) Compact() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || l.lost() != nil {
		return
	}
	text, err := l.newest()
	if err != nil || int64(len(text)) > l.size/2 {
		return
	}
	name := l.compactName()
	f, err := open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err == nil {
		err = cmp.Or(writeAt(f, text, 0), f.Sync(), f.Close())
	}
	l.file.Close() // Windows renames no open file
	if err == nil {
		err = os.Rename(name, l.path)
	}
	if err != nil {
		os.Remove(name)
	}
	l.syncName()
	l.file, _ = open(l.path, os.O_RDWR) // Close reports a failure
}

// compactName returns the name under which Compact writes the new file.
func (l *Log) compactName() string { return l.path + ".new" }

// newest returns the text of a log with only the last entry of each target and element.
func (l *Log) newest() ([]byte, error) {
	now := &Log{path: l.path, file: l.file, past: make(map[string]map[string]Entry), sent: make(map[string]int)}
	_, err := l.file.Seek(0, io.SeekStart)
	if err == nil {
		err = now.read()
	}
	text := []byte(header)
	for _, entries := range now.past {
		for _, e := range entries {
			line, problem := json.Marshal(e)
			text, err = append(append(text, line...), '\n'), cmp.Or(err, problem)
		}
	}
	return text, err
}

// Close makes what was written outlast a crash of the machine, and lets other processes use
// the file. It returns what Err does, or why that has failed.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := cmp.Or(l.err, l.lost(), l.file.Sync())
	l.err = os.ErrClosed
	return l.failed(errors.Join(err, l.file.Close(), l.unlock()))
}

// Remove closes and removes the file, and lets other processes use its name only then: one that
// had the file before would lose it.
func (l *Log) Remove() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost, err := l.lost(), l.file.Close()
	if l.err = os.ErrClosed; lost == nil {
		os.Remove(l.compactName()) // of a process that was killed
		err = cmp.Or(err, os.Remove(l.path))
	}
	return errors.Join(err, l.unlock())
}

// version is that of the format, and of what the IDs are made of.
const version = 4

// header is the first line.
const header = `{"joblog":4}` + "\n"

// longestLine is how long a line may be, in bytes, with its line break.
const longestLine = 1 << 20

// read reads the whole lines of the file, and sets size to their length: 0 if there is none,
// or a part of the header only, since a process may have been killed while it wrote that.
func (l *Log) read() error {
	in := bufio.NewReaderSize(l.file, longestLine)
	for number := 1; ; number++ {
		text, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF && number > 1 && l.take(text) == nil: // an editor has taken only its line break
			l.size += int64(len(text)) + 1
			return writeAt(l.file, []byte("\n"), l.size-1)
		case err == io.EOF && (number > 1 || strings.HasPrefix(header, string(text))):
			return nil
		case number == 1:
			err = checkHeader(text)
		case err == nil:
			err = l.take(text)
		case errors.Is(err, bufio.ErrBufferFull):
			err = errNoLine
		}
		switch {
		case err == nil:
			l.size += int64(len(text))
		case number == 1:
			return fmt.Errorf("%s %w", l.path, err)
		default:
			return fmt.Errorf("%s:%d: %w", l.path, number, err)
		}
	}
}

func checkHeader(text []byte) error {
	var head struct {
		Version int `json:"joblog"`
	}
	switch err := json.Unmarshal(text, &head); {
	case string(text) == header:
		return nil
	case err != nil || head.Version == 0 || head.Version == version:
		return errors.New("is not a job log: it has another beginning")
	}
	return fmt.Errorf("is a job log of version %d, but this poll reads version %d only", head.Version, version)
}

var errNoLine = errors.New("not a line of a job log")

// take reads a line. Nothing that precedes a start comes after the start. What comes after an end goes on.
func (l *Log) take(text []byte) error {
	var e Entry
	if json.Unmarshal(text, &e) != nil {
		return errNoLine
	}
	switch e.Event {
	case EventStart, EventFollow, EventWait, EventEnd:
	default:
		return fmt.Errorf("unknown event %.20q", e.Event)
	}
	if e.ID == "" || (e.Event == EventEnd) != e.State.Ended() || (e.Event == EventStart) != e.State.Starting {
		return fmt.Errorf("a line for %s that makes no sense", e.Event)
	}
	key := ""
	if e.Key != nil {
		key = *e.Key
	}
	switch {
	case e.Event == EventStart:
		l.sent[e.ID] = e.State.Sent + 1
	case l.precedes(e):
		return nil
	default:
		l.sent[e.ID] = max(l.sent[e.ID], e.State.Sent)
	}
	if l.past[e.ID] == nil {
		l.past[e.ID] = make(map[string]Entry)
	}
	l.past[e.ID][key] = e
	return nil
}
