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

// patience is how long openFile waits for another process, which may be about to end.
const patience = 200 * time.Millisecond

// ErrNotStarted reports that a request was not sent, since the job log does not have its start.
var ErrNotStarted = errors.New("nothing was started")

// An entry is a line about a target, or about an element of its responses. It holds no header values and no
// passwords. It holds the URL that is followed.
type entry struct {
	Event string     `json:"event"` // the result of kind
	At    time.Time  `json:"at"`
	ID    string     `json:"id"`            // see identify
	Key   *string    `json:"key,omitempty"` // of an element; nil for the target itself
	Name  string     `json:"name,omitempty"`
	Exit  *int       `json:"exit,omitempty"` // the exit code, if the State has Ended
	State poll.State `json:"state"`
}

// kind returns "start" for a start request that is about to be sent, "end" for a target that has ended, and
// "wait" for a target that is open.
func (e entry) kind() string {
	switch {
	case e.State.Starting:
		return "start"
	case e.State.Ended():
		return "end"
	}
	return "wait"
}

// starts counts the start requests of an entry, with a request whose response is not known.
func (e entry) starts() int {
	if e.State.Starting {
		return e.State.Sent + 1
	}
	return e.State.Sent
}

// A file is an open job log: the newest entry of each target and element. One process at a time has a file
// open. The methods may be called on any goroutine.
type file struct {
	path   string
	file   *os.File
	unlock func() error

	mu     sync.Mutex
	newest map[string]map[string]entry // by ID, then by key, which is "" for a target
	size   int64                       // of the whole lines
	err    error                       // why a line was not written; no line follows that line
}

// openFile opens a job log, and creates the file if it does not exist. It fails if the file is not a job log, or
// another process has the file open, and does not change the file.
func openFile(path string) (*file, error) {
	opened, err := system.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, file: opened, newest: make(map[string]map[string]entry)}
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
	case errors.Is(err, errLost) && gone == nil: // its last process has compacted it
		return openFile(path)
	case errors.Is(err, system.ErrHeld):
		return nil, fmt.Errorf("another process uses %s", path)
	}
	return nil, err
}

// begin cuts off a torn line, or writes the header of a new file.
func (f *file) begin() error {
	info, err := f.file.Stat()
	if err == nil && info.Size() != f.size { // otherwise it would look touched
		err = f.file.Truncate(f.size)
	}
	if err == nil && f.size == 0 {
		f.size = int64(len(header))
		f.syncName()
		err = cmp.Or(system.WriteAt(f.file, []byte(header), 0), f.file.Sync())
	}
	return cmp.Or(err, f.file.Chmod(0o600))
}

// syncName syncs the directory, so that the name of the file outlasts a crash of the machine.
func (f *file) syncName() {
	if dir, err := os.Open(filepath.Dir(f.path)); err == nil {
		defer dir.Close()
		dir.Sync()
	}
}

// past returns the newest entry of a target.
func (f *file) past(id string) (e entry, known bool) {
	e, known = f.newest[id][""]
	return e, known && e.Key == nil
}

// start writes that a start request is about to be sent. It returns once the line will outlast a crash of the
// machine, in the file of that name. After an error, which is ErrNotStarted, the request must not be sent.
func (f *file) start(e entry) error {
	f.write(e)
	if err := f.problem(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	return nil
}

// write writes an entry, unless the file has a newer entry. It syncs a line about an operation that was started: after
// a crash of the machine a later run checks a target again whose last line is lost. After an error, which problem
// returns, it writes nothing more: the file may be full.
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
			f.file.Truncate(f.size) // a start that is not sent
		}
	}
	if f.err = err; err == nil {
		f.size += int64(len(text)) + 1
		f.keep(e)
	}
}

// isStale reports whether an entry is older than the last start of its target: the state before that start, or
// without its response. The operation may have started.
func (f *file) isStale(e entry) bool {
	return e.Key == nil && !e.State.Ended() && e.State.Sent < f.newest[e.ID][""].starts()
}

// keep sets the newest entry of a target or an element.
func (f *file) keep(e entry) {
	key := ""
	if e.Key != nil {
		key = *e.Key
	}
	if f.newest[e.ID] == nil {
		f.newest[e.ID] = make(map[string]entry)
	}
	f.newest[e.ID][key] = e
}

// problem returns the error that keeps a later run from finding all entries, or nil.
func (f *file) problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed(cmp.Or(f.err, f.lost()))
}

// lost returns an error if the name of the file belongs to another file, or to no file.
func (f *file) lost() error {
	if system.IsAt(f.file, f.path) {
		return nil
	}
	return errLost
}

var errLost = errors.New("it was removed or replaced during the run, so a later run would begin anew")

// failed adds the path of the file to an error.
func (f *file) failed(err error) error {
	if err == nil {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("write job log %s: %w", f.path, err)
}

// compact drops the lines that later lines supersede, if these are half of the file. A call of close has to follow:
// another process may open the new file at once. After a failure, or a kill at any moment, the old file is there.
func (f *file) compact() {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := []byte(header), cmp.Or(f.err, f.lost())
	for _, entries := range f.newest {
		for _, e := range entries {
			line, problem := json.Marshal(e)
			text, err = append(append(text, line...), '\n'), cmp.Or(err, problem)
		}
	}
	if err != nil || int64(len(text)) > f.size/2 {
		return
	}
	f.file.Close() // Windows replaces no open file
	system.WriteFile(f.path, text)
	f.syncName()
	f.file, _ = system.OpenOwn(f.path, os.O_RDWR) // close reports a failure
}

// close syncs the lines, or removes the file, and lets other processes use its name
// only then: a process that opened the file before would lose it. It returns the error of problem, or its own.
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

// header is the first line. Its number is the version of the format, and of the texts that IDs are sums of.
const header = `{"joblog":4}` + "\n"

// read reads the whole lines of the file, and sets size to their length: 0 if the file is empty, or
// has a part of the header only, since a process may have been killed while it wrote the header.
func (f *file) read() error {
	in := bufio.NewReader(f.file)
	head, _ := in.Peek(len(header))
	switch {
	case !strings.HasPrefix(header, string(head)):
		return fmt.Errorf("%s is not a job log of this version of poll: it has another beginning", f.path)
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
		case err == io.EOF && wrong == nil: // an editor has taken only its line break
			f.size += int64(len(text)) + 1
			return system.WriteAt(f.file, []byte("\n"), f.size-1)
		case err == io.EOF: // a torn line, or the end
			return nil
		case cmp.Or(err, wrong) != nil:
			return fmt.Errorf("%s:%d: %w", f.path, number, cmp.Or(err, wrong))
		}
		f.size += int64(len(text))
	}
}

var errNoLine = errors.New("not a line of a job log")

// take reads a line.
func (f *file) take(text []byte) error {
	var e entry
	if json.Unmarshal(text, &e) != nil {
		return errNoLine
	}
	if e.ID == "" || (e.Event == "end") != e.State.Ended() || (e.Event == "start") != e.State.Starting {
		return fmt.Errorf("a line for %.20q that makes no sense", e.Event)
	}
	if !f.isStale(e) {
		f.keep(e)
	}
	return nil
}
