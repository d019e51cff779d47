package stream

import (
	"bytes"
	"strconv"
	"time"
	"unicode"
)

// A Memory holds the values from an event stream that the next request for the stream needs. Events sets the fields.
type Memory struct {
	LastID string        // ID of the last event, for the header field Last-Event-ID; "" if the server has sent no ID
	Retry  time.Duration // shortest wait before the next request; 0 if the server has sent no retry field
}

// Events is a Framer that finds server-sent events (HTML Living Standard, section 9.2).
type Events struct {
	lines
	receive Receiver
	memory  *Memory
	started bool   // the first line, which may start with a byte order mark, has been read
	id      string // ID of the current event
	event   string // name of the current event; "" if the event has no name
	data    buffer // data of the current event, with a line feed after each line
}

// room is the number of bytes that a line may have in addition to its data: the field name, the colon and the space.
const room = 64

// maxID is the length in bytes of the longest event ID that is kept. Later requests send the ID in a header.
const maxID = 4 << 10

// NewEvents returns an Events that passes each event to receive. It keeps at most limit bytes of an event's data. It
// starts with the last event ID in memory, and updates memory while it reads the stream.
func NewEvents(limit int64, memory *Memory, receive Receiver) *Events {
	return &Events{lines: lines{limit: limit + room, ends: "\r\n"}, receive: receive, memory: memory, id: memory.LastID}
}

// Write passes each event that p completes to the Receiver. As soon as the Receiver returns true, Write skips the rest of p
// and returns true.
func (e *Events) Write(p []byte) (enough bool) { return e.write(p, e.line) }

// line adds a line of the stream to the current event. An empty line completes the event, and passes it to the Receiver.
// line returns true if the Receiver returns true. The parameter line may hold only the start of a long line, and size is
// the whole line's length in bytes.
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
		e.data.add(value, limit+1) // one byte more, for the last line feed, which dispatch removes
		e.data.size += size - int64(len(line))
		e.data.add([]byte("\n"), limit+1)
	case "event":
		e.event = string(value)
	case "id":
		if len(value) <= maxID && !bytes.ContainsFunc(value, unicode.IsControl) { // the next request sends the ID in a header
			e.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 32); err == nil {
			e.memory.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return false
}

// dispatch passes the completed event to the Receiver, and returns the result. An event without data is not passed on.
// Then dispatch starts the next event.
func (e *Events) dispatch() (enough bool) {
	e.memory.LastID = e.id
	if e.data.size > 0 {
		size := e.data.size - 1
		data := e.data.kept[:min(size, int64(len(e.data.kept)), e.limit-room)]
		m := Message{Data: data, Size: size, Event: "message"}
		if e.event != "" {
			m.Event = e.event
		}
		enough = e.receive(m)
	}
	e.event = ""
	e.data.reset()
	return enough
}
