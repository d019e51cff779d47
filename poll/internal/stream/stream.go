// Package stream splits the output of a server or a program into messages: lines, JSON documents or server-sent
// events. It passes on each message as soon as the message is complete. If the stream ends in the middle of a
// message, that message is dropped, except that [Lines.End] passes on an incomplete last line.
package stream

import "bytes"

// A Message is one line, JSON document or server-sent event.
type Message struct {
	Data  []byte // valid until the Receiver returns
	Size  int64  // length of the whole message in bytes; greater than len(Data) if Data holds only the start of the message
	Event string // name of a server-sent event, by default "message"; "" for lines and documents
	Part  bool   // the message is one line of a JSON document that is incomplete or too long
}

// A Framer splits a stream of bytes into messages, and passes each message to a Receiver.
type Framer interface {
	// Write reads p, the next bytes of the stream, and passes each message that p completes to the Receiver. As soon as
	// the Receiver returns true, Write skips the rest of p and returns true.
	Write(p []byte) (enough bool)
}

// A Receiver receives one message. It returns true if the reader needs no further messages.
type Receiver func(Message) (enough bool)

// A buffer keeps the first bytes that are added, up to a limit. size is the number of all added bytes.
type buffer struct {
	kept []byte
	size int64
}

// add appends p to the kept bytes. It drops the bytes beyond limit, but counts them in size.
func (b *buffer) add(p []byte, limit int64) {
	b.size += int64(len(p))
	b.kept = append(b.kept, p[:min(int64(len(p)), max(0, limit-int64(len(b.kept))))]...)
}

func (b *buffer) reset() { b.kept, b.size = b.kept[:0], 0 }

// lines splits a stream of bytes into lines.
type lines struct {
	limit int64  // largest number of bytes to keep of one line
	ends  string // the characters that end a line: a line feed, and perhaps a carriage return
	held  buffer // the start of an incomplete line
	crlf  bool   // the previous byte was a carriage return that ended a line, so a line feed is skipped
}

// write passes each line that p completes to receive, without the line ending. The parameter size of receive is the whole
// line's length in bytes, which exceeds len(line) if the line is longer than the limit. As soon as receive returns true,
// write skips the rest of p and returns true.
func (l *lines) write(p []byte, receive func(line []byte, size int64) (enough bool)) (enough bool) {
	for len(p) > 0 && !enough {
		if l.crlf && p[0] == '\n' {
			p = p[1:]
		}
		l.crlf = false
		end := bytes.IndexAny(p, l.ends)
		if end < 0 {
			l.held.add(p, l.limit)
			return false
		}
		l.crlf = p[end] == '\r'
		line := p[:end]
		if l.held.size > 0 || int64(end) > l.limit {
			l.held.add(line, l.limit)
			line = l.held.kept
		}
		enough = receive(line, max(l.held.size, int64(len(line))))
		l.held.reset()
		p = p[end+1:]
	}
	return enough
}

// Lines is a Framer that finds lines, and skips empty lines. It joins the lines of an indented JSON document into one
// message. Such a document starts with a line that is only "{" or "[", and ends with a line that is only "}" or "]".
// The lines in between start with a space or a tab.
type Lines struct {
	lines
	receive  Receiver
	document []byte // lines of the current JSON document; empty outside a document
	broken   bool   // part of a document was passed on as single lines, and the next lines may belong to the same document
}

// NewLines returns a Lines that passes each line or document to receive. It keeps at most limit bytes of a line. A
// document of limit bytes or more is passed on as single lines.
func NewLines(limit int64, receive Receiver) *Lines {
	return &Lines{lines: lines{limit: limit, ends: "\n"}, receive: receive}
}

// Write passes each line or document that p completes to the Receiver. As soon as the Receiver returns true, Write skips the
// rest of p and returns true.
func (l *Lines) Write(p []byte) (enough bool) { return l.write(p, l.line) }

// End must be called at the end of the stream. It passes a last line without a line ending to the Receiver, and
// then the lines of an incomplete document, until the Receiver returns true. End reports whether the Receiver
// has returned true.
func (l *Lines) End() (enough bool) {
	return l.held.size > 0 && l.Write([]byte("\n")) || l.flush()
}

// line handles one line: the line continues the current document, starts a document, or is passed to the Receiver as a
// message. size is the whole line's length in bytes. An empty line is dropped. It also ends the current document,
// which is then passed on as single lines. line returns true as soon as the Receiver returns true.
func (l *Lines) line(line []byte, size int64) (enough bool) {
	if size == int64(len(line)) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		size = int64(len(line))
	}
	is := func(set string) bool { return size > 0 && bytes.IndexByte([]byte(set), line[0]) >= 0 }
	begins, ends := size == 1 && is("{["), size == 1 && is("}]")
	isInside := len(l.document) > 0 && int64(len(l.document))+size < l.limit
	switch {
	case isInside && (ends || is(" \t")):
		l.document = append(append(l.document, '\n'), line...)
		if ends {
			l.broken = false
			enough = l.receive(Message{Data: l.document, Size: int64(len(l.document))})
			l.document = l.document[:0]
		}
		return enough
	case l.flush():
		return true
	case begins:
		l.document = append(l.document, line...)
		return false
	}
	l.broken = l.broken && !ends
	return size > 0 && l.receive(Message{Data: line, Size: size, Part: l.broken && is(" \t")})
}

// flush passes the lines of the current document to the Receiver as separate messages whose field Part is true.
// It is called for a document that is incomplete or too long. Outside of a document, it does nothing. flush
// returns true as soon as the Receiver returns true.
func (l *Lines) flush() (enough bool) {
	for line := range bytes.SplitSeq(l.document, []byte("\n")) {
		l.broken = l.broken || len(line) > 0
		enough = enough || len(line) > 0 && l.receive(Message{Data: line, Size: int64(len(line)), Part: true})
	}
	l.document = l.document[:0]
	return enough
}
