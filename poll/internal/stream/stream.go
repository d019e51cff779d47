// Package stream splits the output of a server or a program into messages: lines, JSON documents or server-sent
// events. It reports a message as soon as the message is complete. It never reports a message that the end of the
// stream has cut, except a last line, on request (see [Lines.End]).
package stream

import "bytes"

// A Message is one line, JSON document or server-sent event.
type Message struct {
	Data  []byte // valid until the Tell returns
	Size  int64  // length of the whole message in bytes; greater than len(Data) if Data holds only its start
	Event string // name of a server-sent event, "message" by default; "" for other messages
	Part  bool   // the message is a line of a JSON document that has no end or is too long
}

// A Framer finds the messages in a stream of bytes.
type Framer interface {
	// Write reads the next bytes of the stream, and passes each message that p completes to a Tell. It returns true
	// as soon as the Tell does, and then skips the rest of p.
	Write(p []byte) (enough bool)
}

// A Tell receives a message, and reports whether the reader needs no further message.
type Tell func(Message) (enough bool)

// A buffer keeps the first bytes that are added. size counts all bytes.
type buffer struct {
	kept []byte
	size int64
}

// add appends p, and counts but drops the bytes that exceed limit.
func (b *buffer) add(p []byte, limit int64) {
	b.size += int64(len(p))
	b.kept = append(b.kept, p[:min(int64(len(p)), max(0, limit-int64(len(b.kept))))]...)
}

func (b *buffer) reset() { b.kept, b.size = b.kept[:0], 0 }

// lines splits bytes into lines.
type lines struct {
	limit int64  // number of bytes to keep of a line
	cr    bool   // a carriage return also ends a line
	held  buffer // start of a line that has not ended
	crlf  bool   // a carriage return has just ended a line: a line feed that follows belongs to the same line end
}

// write passes each line that p completes to tell, without the line end. size is the length of the whole line in
// bytes, greater than len(line) if the line exceeds the limit. write returns after the first call
// that returns true.
func (l *lines) write(p []byte, tell func(line []byte, size int64) (enough bool)) (enough bool) {
	for len(p) > 0 && !enough {
		if l.crlf && p[0] == '\n' {
			p = p[1:]
		}
		l.crlf = false
		end := l.end(p)
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
		enough = tell(line, max(l.held.size, int64(len(line))))
		l.held.reset()
		p = p[end+1:]
	}
	return enough
}

// end returns the index of the first line end in p, or -1 if p has no line end.
func (l *lines) end(p []byte) int {
	end := bytes.IndexByte(p, '\n')
	if l.cr {
		if end >= 0 {
			p = p[:end]
		}
		if cr := bytes.IndexByte(p, '\r'); cr >= 0 {
			return cr
		}
	}
	return end
}

// Lines is a Framer that finds lines. It joins the lines of an indented JSON document into one message: a line that
// is only "{" or "[", lines that start with a blank or a tab, and a line that is only "}" or "]". It skips empty lines.
type Lines struct {
	lines
	tell     Tell
	document []byte // lines of the current JSON document; empty outside a document
	broken   bool   // a document was passed on as single lines, and the next lines may belong to the same document
}

// NewLines returns a Lines that passes each line or document to tell. It keeps at most limit bytes of a line. A
// document of limit bytes or more is passed on as single lines.
func NewLines(limit int64, tell Tell) *Lines {
	return &Lines{lines: lines{limit: limit}, tell: tell}
}

// Write passes each line or document that p completes to the Tell. It returns true as soon as the Tell returns true.
func (l *Lines) Write(p []byte) (enough bool) { return l.write(p, l.line) }

// End reports the end of the stream. It passes a last line without a line end to the Tell, and then the lines of
// a document without an end. It returns true if the Tell returns true.
func (l *Lines) End() (enough bool) {
	return l.held.size > 0 && l.Write([]byte("\n")) || l.flush()
}

// line adds a line to the current document, starts a document with the line, or passes the line to the Tell. size is the
// length of the whole line in bytes. An empty line is dropped. It also ends the current document, which then is
// passed on as single lines.
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
			enough = l.tell(Message{Data: l.document, Size: int64(len(l.document))})
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
	return size > 0 && l.tell(Message{Data: line, Size: size, Part: l.broken && is(" \t")})
}

// flush passes the lines of the current document to the Tell, as messages with Part: the document has no end, or exceeds
// the limit. It does nothing outside a document.
func (l *Lines) flush() (enough bool) {
	for line := range bytes.SplitSeq(l.document, []byte("\n")) {
		l.broken = l.broken || len(line) > 0
		enough = enough || len(line) > 0 && l.tell(Message{Data: line, Size: int64(len(line)), Part: true})
	}
	l.document = l.document[:0]
	return enough
}
