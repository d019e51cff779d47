package joblog

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pollcli/poll/poll"
)

// version is that of the format, and of what the IDs are made of.
const version = 3

// saltSize is that of new headers, in bytes.
const saltSize = 16

// longestLine is how long a line may be, in bytes, with its line break.
const longestLine = 1 << 20

// A header is the first line. The salt makes the IDs of two logs differ.
type header struct {
	Version int    `json:"joblog"`
	Salt    string `json:"salt"`
}

// headerStart is how every header begins.
const headerStart = `{"joblog":3,"salt":"`

// The events of lines.
const (
	eventStart  = "start"
	eventFollow = "follow"
	eventWait   = "wait"
	eventEnd    = "end"
)

// A line is one that is not the header.
type line struct {
	Event string     `json:"event"`
	At    time.Time  `json:"at"`
	ID    string     `json:"id"`
	Key   *string    `json:"key,omitempty"` // may be empty
	Name  string     `json:"name,omitempty"`
	Exit  *int       `json:"exit,omitempty"`
	State poll.State `json:"state"`
}

func encode(event string, e Entry) ([]byte, error) {
	l := line{Event: event, At: time.Now().UTC().Truncate(time.Millisecond), ID: e.ID, Key: e.Key, Name: e.Name, State: e.State}
	if e.Ended() {
		l.Exit = &e.Exit
	}
	text, err := json.Marshal(l)
	if err == nil && len(text) >= longestLine {
		err = fmt.Errorf("a line of %d bytes is too long for a job log", len(text))
	}
	return append(text, '\n'), err
}

// decode reads a line.
func decode(text []byte) (e Entry, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return e, errors.New("not a line of a job log")
	}
	switch l.Event {
	case eventStart, eventFollow, eventWait, eventEnd:
	default:
		return e, fmt.Errorf("unknown event %.20q", l.Event)
	}
	if l.ID == "" || (l.Event == eventEnd) != l.State.Ended() || (l.Event == eventStart) != l.State.Starting {
		return e, fmt.Errorf("a line for %s that makes no sense", l.Event)
	}
	e = Entry{ID: l.ID, Key: l.Key, Name: l.Name, State: l.State}
	if l.Exit != nil {
		e.Exit = *l.Exit
	}
	return e, nil
}

var (
	// errEmpty means that there is no header yet, or only a part of one.
	errEmpty = errors.New("is empty")
	errOther = errors.New("is no job log: it begins with something else")
)

// read reads the whole lines of the file, and sets size to their length.
func (l *Log) read() error {
	in := bufio.NewReaderSize(l.file, longestLine)
	for number := 1; ; number++ {
		text, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF && number == 1:
			return l.wrong(number, beginning(text))
		case err == io.EOF:
			return nil
		case number == 1:
			err = l.readHeader(text)
		case errors.Is(err, bufio.ErrBufferFull):
			err = errors.New("not a line of a job log")
		case err == nil:
			var e Entry
			if e, err = decode(text); err == nil {
				l.know(e)
			}
		}
		if err != nil {
			return l.wrong(number, err)
		}
		l.size += int64(len(text))
		l.lines++
	}
}

// know takes an entry. Nothing comes after an end, and nothing that precedes it after a start.
func (l *Log) know(e Entry) {
	r := l.past[e.ID]
	if r == nil {
		r = &record{elements: make(map[string]Entry)}
		l.past[e.ID] = r
	}
	if e.Key != nil {
		if !r.elements[*e.Key].Ended() {
			r.elements[*e.Key] = e
		}
		return
	}
	if r.target != nil && r.target.Ended() || !e.Starting && l.precedes(e) {
		return
	}
	if r.target = &e; e.Starting {
		l.starts[e.ID] = e.Sent
	}
}

// wrong says where an error is.
func (l *Log) wrong(number int, err error) error {
	if number == 1 {
		return fmt.Errorf("%s %w", l.path, err)
	}
	return fmt.Errorf("%s:%d: %w", l.path, number, err)
}

// beginning says what a file is that has no whole line: a process may have been killed while
// it wrote the header.
func beginning(text []byte) error {
	salt, begun := bytes.CutPrefix(text, []byte(headerStart))
	if begun && len(salt) <= 2*saltSize+len(`"}`) || bytes.HasPrefix([]byte(headerStart), text) {
		return errEmpty
	}
	return errOther
}

func (l *Log) readHeader(text []byte) error {
	var h header
	if json.Unmarshal(text, &h) != nil || h.Version == 0 {
		return errOther
	}
	if h.Version != version {
		return fmt.Errorf("is a job log of version %d, and this program knows version %d only", h.Version, version)
	}
	var err error
	if l.salt, err = hex.DecodeString(h.Salt); err != nil || len(l.salt) == 0 {
		return errOther
	}
	return nil
}
