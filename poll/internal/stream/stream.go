// Package stream finds the messages in what a server or a program sends bit by bit: lines, JSON documents,
// server-sent events. A message is told once it is whole, and never if it was cut.
package stream

import "bytes"

// A Message is one of a stream.
type Message struct {
	Data  []byte // holds only until the next message is told
	Size  int64  // its length; more than len(Data) if that is only the beginning
	Event string // the name of a server-sent event
	Part  bool   // it is a line of a document that has no end, or is too long
}

// A Framer finds messages in bytes, which it is given as they come.
type Framer interface {
	// Write tells the messages that p completes until one is enough, which it reports.
	Write(p []byte) (enough bool)
}

// A Tell is told a message, and reports whether no further one is wanted.
type Tell func(Message) (enough bool)

// A buffer keeps the beginning of something and counts the rest.
type buffer struct {
	kept []byte
	size int64
}

func (b *buffer) add(p []byte, limit int64) {
	b.size += int64(len(p))
	b.kept = append(b.kept, p[:min(int64(len(p)), max(0, limit-int64(len(b.kept))))]...)
}

func (b *buffer) reset() { b.kept, b.size = b.kept[:0], 0 }

// lines cuts bytes into lines.
type lines struct {
	limit int64  // of what is kept of a line, in bytes
	ends  string // the characters that end one
	held  buffer
	crlf  bool // a carriage return has ended a line: a line feed that follows is part of that end
}

// write gives each line that p completes to tell, without its end, until one is enough. size is the
// length of the line.
func (l *lines) write(p []byte, tell func(line []byte, size int64) (enough bool)) (enough bool) {
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
		enough = tell(line, max(l.held.size, int64(len(line))))
		l.held.reset()
		p = p[end+1:]
	}
	return enough
}

// Lines finds the lines of a text. Lines that are a JSON document are one message: from one that is only
// "{" or "[", over others that begin with a blank, to one that is only "}" or "]". Empty lines are
// none.
type Lines struct {
	lines
	tell     Tell
	document []byte // from its first line on, empty outside one
	broken   bool   // a document was told by its lines, and those that follow may be of it, too
}

// NewLines returns what finds lines, of which at most limit bytes are kept.
func NewLines(limit int64, tell Tell) *Lines {
	return &Lines{lines: lines{limit: limit, ends: "\n"}, tell: tell}
}

// Write tells the lines that p completes.
func (l *Lines) Write(p []byte) (enough bool) { return l.write(p, l.line) }

// End tells the last line, which lacks its end.
func (l *Lines) End() (enough bool) {
	return l.held.size > 0 && l.Write([]byte("\n")) || l.flush()
}

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

// flush tells the lines of a document that is none, or is longer than the limit.
func (l *Lines) flush() (enough bool) {
	for line := range bytes.SplitSeq(l.document, []byte("\n")) {
		l.broken = l.broken || len(line) > 0
		enough = enough || len(line) > 0 && l.tell(Message{Data: line, Size: int64(len(line)), Part: true})
	}
	l.document = l.document[:0]
	return enough
}
