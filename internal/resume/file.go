package resume

import (
	"bufio"
	"cmp"
	"context"
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

	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/poll"
)

// patience is how long openFile waits for another process that still has the file open but may be about to end.
const patience = 200 * time.Millisecond

// ErrNotStarted reports that a start request was not sent, because the job log could not record the request first.
var ErrNotStarted = errors.New("nothing was started")

// An entry is one line of a job log: the state of a target, or of one element of a list that a target returns. It
// contains the URL that the target follows, but no header values and no passwords.
type entry struct {
	Event string     `json:"event"` // the result of the method kind
	At    time.Time  `json:"at"`
	ID    string     `json:"id"`            // identifies the target; see identify
	Key   *string    `json:"key,omitempty"` // the key of the element; nil for the target itself
	Name  string     `json:"name,omitempty"`
	Exit  *int       `json:"exit,omitempty"` // the exit code of poll for the target, if it has ended
	State poll.State `json:"state"`
}

// A subject identifies the target or the element that an entry is about.
type subject struct{ id, key string }

// subject returns the subject of the entry. The key is "" for a target.
func (e entry) subject() subject {
	if e.Key == nil {
		return subject{id: e.ID}
	}
	return subject{e.ID, *e.Key}
}

// kind returns "start" if a start request is about to be sent, "end" if the target has ended, and "wait"
// otherwise.
func (e entry) kind() string {
	switch {
	case e.State.Starting:
		return "start"
	case e.State.Ended():
		return "end"
	}
	return "wait"
}

// starts returns the number of start requests in the entry, including a request whose response is not known.
func (e entry) starts() int {
	if e.State.Starting {
		return e.State.Sent + 1
	}
	return e.State.Sent
}

// A file is an open job log. It contains the newest entry of each target and element. Only one process at a time
// can have the file open. Methods may be called concurrently.
type file struct {
	path   string
	file   *os.File
	unlock func() error

	mu     sync.Mutex
	newest map[subject]entry
	size   int64 // the length of all complete lines in bytes
	err    error // the error that kept a line from being written; after an error, no further lines are written
}

// openFile opens the job log at path. It creates the file if it does not exist. If the file is not a job log, or
// if another process has it open, openFile returns an error and does not change the file.
func openFile(path string) (*file, error) {
	opened, err := system.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, file: opened, newest: make(map[subject]entry)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if f.unlock, err = system.Lock(ctx, path); err == nil {
		if err = cmp.Or(f.lost(), f.read()); err == nil {
			err = f.begin()
		}
		if err == nil {
			return f, nil
		}
		f.unlock()
	}
	opened.Close()
	switch _, gone := os.Lstat(path); {
	case errors.Is(err, errLost) && gone == nil: // another process replaced the file by compacting it
		return openFile(path)
	case errors.Is(err, system.ErrHeld):
		return nil, fmt.Errorf("another process uses %s", path)
	}
	return nil, err
}

// begin prepares the file for writing. It removes an incomplete line at the end, or writes the header of a new
// file.
func (f *file) begin() error {
	info, err := f.file.Stat()
	if err == nil && info.Size() != f.size { // the file must not look modified unless it is
		err = f.file.Truncate(f.size)
	}
	if err == nil && f.size == 0 {
		f.size = int64(len(header))
		f.syncName()
		err = cmp.Or(system.WriteAt(f.file, []byte(header), 0), f.file.Sync())
	}
	return cmp.Or(err, f.file.Chmod(0o600))
}

// syncName syncs the directory, so that the name of the file is not lost if the machine crashes.
func (f *file) syncName() {
	if dir, err := os.Open(filepath.Dir(f.path)); err == nil {
		defer dir.Close()
		dir.Sync()
	}
}

// past returns the newest entry of the target with the given ID, and whether there is such an entry.
func (f *file) past(id string) (e entry, known bool) {
	e, known = f.newest[subject{id: id}]
	return e, known && e.Key == nil
}

// start records that a start request is about to be sent. If it returns nil, the record survives even a crash of the
// machine. If it returns an error, the request must not be sent. The error wraps ErrNotStarted.
func (f *file) start(e entry) error {
	f.write(e)
	if err := f.problem(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	return nil
}

// write writes e, unless the file has a newer entry. It syncs the file if an operation was started. Any other line
// may be lost in a crash of the machine without harm, because a later run checks the target again. After the first
// error, write does nothing more, because the file may be full. problem returns the first error.
func (f *file) write(e entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil || f.isStale(e) {
		return
	}
	e.Event, e.At = e.kind(), time.Now().UTC().Truncate(time.Millisecond)
	text, err := json.Marshal(e)
	if err == nil {
		err = system.WriteAt(f.file, append(text, '\n'), f.size)
	}
	if err == nil && e.Key == nil && e.starts() > 0 {
		if err = f.file.Sync(); err != nil {
			f.file.Truncate(f.size) // the request will not be sent
		}
	}
	if f.err = err; err == nil {
		f.size += int64(len(text)) + 1
		f.newest[e.subject()] = e
	}
}

// isStale reports whether e is the state of a target before its newest start request in the file, or before the
// response to that request. Such a state must not replace the newer entry, because the operation may have started.
func (f *file) isStale(e entry) bool {
	return e.Key == nil && !e.State.Ended() && e.State.Sent < f.newest[e.subject()].starts()
}

// problem returns an error if a later run would not find all entries, and otherwise nil.
func (f *file) problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed(cmp.Or(f.err, f.lost()))
}

// lost returns errLost if f.path leads to another file, or to no file.
func (f *file) lost() error {
	if system.IsAt(f.file, f.path) {
		return nil
	}
	return errLost
}

var errLost = errors.New("it was removed or replaced during the run, so a later run would start anew")

// failed returns err with the path of the file, or nil if err is nil.
func (f *file) failed(err error) error {
	if err == nil {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("write job log %s: %w", f.path, err)
}

// compact removes the lines that later lines supersede, if this makes the file at most half as long. The next call
// must be close, because another process may open the new file at once. If compact fails, or the process is
// killed, the old file remains.
func (f *file) compact() {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := []byte(header), cmp.Or(f.err, f.lost())
	for _, e := range f.newest {
		line, problem := json.Marshal(e)
		text, err = append(append(text, line...), '\n'), cmp.Or(err, problem)
	}
	if err != nil || int64(len(text)) > f.size/2 {
		return
	}
	f.file.Close() // Windows cannot replace an open file
	system.WriteFile(f.path, text)
	f.syncName()
	f.file, _ = system.OpenOwn(f.path, os.O_RDWR) // close reports an error
}

// close syncs and closes the file. If remove is true, close also removes the file, unless f.path leads to another
// file by now, and returns only an error from removing or unlocking the file. Otherwise, it returns the error that
// problem would return, or an error from syncing, closing or unlocking. It releases the lock last, so that the
// removal cannot affect a process that opens the file next.
func (f *file) close(remove bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lost := f.lost()
	err := cmp.Or(f.err, lost, f.file.Sync())
	f.err = os.ErrClosed
	if err = errors.Join(err, f.file.Close()); remove {
		if err = nil; lost == nil {
			err = os.Remove(f.path)
		}
	}
	return f.failed(errors.Join(err, f.unlock()))
}

// header is the first line of a job log. Its number is the version of the format, which includes the way in which
// IDs are computed.
const header = `{"joblog":4}` + "\n"

// read reads the complete lines of the file, and sets f.size to their length. The size remains 0 if the file is
// empty, or if it contains only a part of the header, because a process may have been killed while it wrote the
// header.
func (f *file) read() error {
	in := bufio.NewReader(f.file)
	head, _ := in.Peek(len(header))
	switch {
	case !strings.HasPrefix(header, string(head)):
		return fmt.Errorf("%s is not a job log of this version of poll: its first line differs", f.path)
	case len(head) < len(header):
		return nil
	}
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		var wrong error
		if number > 1 {
			wrong = f.take(text)
		}
		switch {
		case err == io.EOF && wrong == nil: // a complete entry without its line break, which an editor may have removed
			f.size += int64(len(text)) + 1
			return system.WriteAt(f.file, []byte("\n"), f.size-1)
		case err == io.EOF: // an incomplete line, or the end of the file
			return nil
		case cmp.Or(err, wrong) != nil:
			return fmt.Errorf("%s:%d: %w", f.path, number, cmp.Or(err, wrong))
		}
		f.size += int64(len(text))
	}
}

var errNoLine = errors.New("not a line of a job log")

// take adds the entry in text, a line of the file. It returns an error if the line is not a valid entry.
func (f *file) take(text []byte) error {
	var e entry
	if json.Unmarshal(text, &e) != nil {
		return errNoLine
	}
	if e.ID == "" || e.Event != e.kind() {
		return fmt.Errorf("a line for %.20q that makes no sense", e.Event)
	}
	if !f.isStale(e) {
		f.newest[e.subject()] = e
	}
	return nil
}
