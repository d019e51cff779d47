package stream

import (
	"bytes"
	"strconv"
	"time"
	"unicode"
)

// A Memory is what the streams of a server leave for the next request.
type Memory struct {
	LastID string        // of the events, "" for none
	Retry  time.Duration // the least time before it, 0 for none
}

// Events finds server-sent events (HTML Living Standard, section 9.2).
type Events struct {
	lines
	tell   Tell
	memory *Memory
	begun  bool   // the first line has come
	id     string // of the event that is not whole yet
	event  string // likewise, its name
	data   buffer // likewise, each line with a line feed
}

// room is how much a line may have beside the data, in bytes: the name of its field.
const room = 64

// maxID is how long an ID may be that is sent back, in bytes.
const maxID = 4 << 10

// NewEvents returns what finds events, of which at most limit bytes are kept.
func NewEvents(limit int64, memory *Memory, tell Tell) *Events {
	return &Events{lines: lines{limit: limit + room, cr: true}, tell: tell, memory: memory, id: memory.LastID}
}

// Write tells the events that p completes.
func (e *Events) Write(p []byte) (enough bool) { return e.write(p, e.line) }

func (e *Events) line(line []byte, size int64) (enough bool) {
	if !e.begun {
		e.begun = true
		whole := len(line)
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		size -= int64(whole - len(line))
	}
	if size == 0 {
		return e.dispatch()
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		limit := e.limit - room
		e.data.add(value, limit+1) // with the last line feed, which goes
		e.data.size += size - int64(len(line))
		e.data.add([]byte("\n"), limit+1)
	case "event":
		e.event = string(value)
	case "id":
		if len(value) <= maxID && !bytes.ContainsFunc(value, unicode.IsControl) { // it becomes a header
			e.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 32); err == nil {
			e.memory.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return false
}

// dispatch tells the event that is whole.
func (e *Events) dispatch() (enough bool) {
	e.memory.LastID = e.id
	if e.data.size > 0 {
		size := e.data.size - 1
		data := e.data.kept[:min(size, int64(len(e.data.kept)), e.limit-room)]
		m := Message{Data: data, Size: size, Event: "message"}
		if e.event != "" {
			m.Event = e.event
		}
		enough = e.tell(m)
	}
	e.event = ""
	e.data.reset()
	return enough
}
