package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
		return errors.New("is no job log: it begins with something else")
	}
	return fmt.Errorf("is a job log of version %d, and this program knows version %d only", head.Version, version)
}

var errNoLine = errors.New("not a line of a job log")

// take reads a line. Nothing comes after an end, and nothing that precedes it after a start.
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
	case l.past[e.ID][key].State.Ended():
		return nil
	case e.Event == EventStart:
		l.sent[e.ID] = e.State.Sent + 1
	case l.precedes(e):
		return nil
	}
	if l.past[e.ID] == nil {
		l.past[e.ID] = make(map[string]Entry)
	}
	l.past[e.ID][key] = e
	return nil
}
