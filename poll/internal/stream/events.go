package stream

import (
	"bytes"
	"strconv"
	"time"
	"unicode"
)

// A Memory holds the fields of earlier event streams that apply to the next request for the stream. Events sets them.
type Memory struct {
	LastID string        // ID of the last event, for the header Last-Event-ID; "" if the server has sent no ID
	Retry  time.Duration // shortest time before the next request; 0 if the server has sent no retry field
}

// Events is a Framer that finds server-sent events (HTML Living Standard, section 9.2).
type Events struct {
	lines
	tell    Tell
	memory  *Memory
	started bool   // the first line, which may start with a byte order mark, has been read
	id      string // ID of the current event
	event   string // name of the current event; "" if the event has no name
	data    buffer // data of the current event, with a line feed after each line
}

// room is the number of bytes that a line may have in addition to its data: the field name, the colon and the blank.
const room = 64

// maxID is the length in bytes of the longest event ID that is kept. Requests repeat the ID in a header.
const maxID = 4 << 10

// NewEvents returns an Events that passes each event to tell. It keeps at most limit bytes of an event's data. It
// reads the last ID from memory, and updates memory as the stream is read.
func NewEvents(limit int64, memory *Memory, tell Tell) *Events {
	return &Events{lines: lines{limit: limit + room, cr: true}, tell: tell, memory: memory, id: memory.LastID}
}

// Write passes each event that p completes to the Tell. It returns true as soon as the Tell returns true, and then
// skips the rest of p.
func (e *Events) Write(p []byte) (enough bool) { return e.write(p, e.line) }

// line adds a line to the current event. An empty line ends the event. line may hold only the start of a long line,
// and size is the length of the whole line in bytes.
func (e *Events) line(line []byte, size int64) (enough bool) {
	if !e.started {
		e.started = true
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
		e.data.add(value, limit+1) // plus the last line feed, which dispatch removes
		e.data.size += size - int64(len(line))
		e.data.add([]byte("\n"), limit+1)
	case "event":
		e.event = string(value)
	case "id":
		if len(value) <= maxID && !bytes.ContainsFunc(value, unicode.IsControl) { // it is sent in a header
			e.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 32); err == nil {
			e.memory.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return false
}

// dispatch passes the completed event to the Tell, unless the event has no data. It returns the result of the Tell,
// and starts the next event.
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
