package stream

// recordSeparator is the character before each document in a JSON text sequence (RFC 7464).
const recordSeparator = 0x1e

// Documents is a Framer that finds JSON documents. The stream may be a sequence of documents without separators, a
// JSON text sequence (RFC 7464), or NDJSON. An object, array or string ends with its closing delimiter. A number,
// true, false or null has no closing delimiter, so it ends at the end of its line.
type Documents struct {
	limit   int64
	receive Receiver
	held    buffer
	each    bool // every line holds one document (NDJSON)
	behind  bool // if each is true: the document in the current line is complete, and the rest of the line is skipped
	depth   int  // number of open brackets and braces
	text    bool // inside a string
	escaped bool // the previous byte of the string was a backslash
	scalar  bool // inside a number, true, false or null
}

// NewDocuments returns a Documents that passes each document to receive. It keeps at most limit bytes of a document. If
// each is true, every line holds one document (NDJSON): only the first document in a line is passed on, and a
// document that continues in the next line is dropped.
func NewDocuments(limit int64, each bool, receive Receiver) *Documents {
	return &Documents{limit: limit, each: each, receive: receive}
}

// Write passes each document that p completes to the Receiver. As soon as the Receiver returns true, Write skips the rest of
// p and returns true.
func (d *Documents) Write(p []byte) (enough bool) {
	from := 0 // index of the current document's first byte in p
	for i, c := range p {
		switch isBlank := c == ' ' || c == '\n' || c == '\r' || c == '\t'; {
		case c == recordSeparator, c == '\n' && (d.text || d.each && d.depth > 0): // the current document is incomplete, so drop it
			d.reset()
			from = i + 1
			continue
		case d.behind && c != '\n':
			from = i + 1
		case d.escaped:
			d.escaped = false
		case d.text:
			d.escaped, d.text = c == '\\', c != '"'
			if d.text || d.depth > 0 {
				continue
			}
			enough = d.end(p[from : i+1])
			from = i + 1
		case c == '\n' && d.scalar:
			enough = d.end(p[from:i])
			from, d.behind = i+1, false
		case isBlank && d.depth == 0 && !d.scalar:
			from, d.behind = i+1, d.behind && c != '\n'
		case d.scalar:
		case c == '"':
			d.text = true
		case c == '{' || c == '[':
			d.depth++
		case d.depth == 0:
			d.scalar = true
		case c == '}' || c == ']':
			if d.depth--; d.depth == 0 {
				enough = d.end(p[from : i+1])
				from = i + 1
			}
		}
		if enough {
			return true
		}
	}
	d.held.add(p[from:], d.limit)
	return false
}

// end passes the current document to the Receiver, and returns the result. last holds the document's last bytes; the
// buffer holds the bytes before last.
func (d *Documents) end(last []byte) (enough bool) {
	if d.held.size > 0 || int64(len(last)) > d.limit {
		d.held.add(last, d.limit)
		last = d.held.kept
	}
	enough = d.receive(Message{Data: last, Size: max(d.held.size, int64(len(last)))})
	d.reset()
	d.behind = d.each
	return enough
}

func (d *Documents) reset() {
	d.held.reset()
	d.depth, d.text, d.escaped, d.scalar, d.behind = 0, false, false, false, false
}
