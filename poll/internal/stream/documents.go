package stream

// recordSeparator precedes each document of a JSON text sequence (RFC 7464).
const recordSeparator = 0x1e

// Documents is a Framer that finds JSON documents: concatenated documents, a JSON text sequence (RFC 7464) or
// NDJSON. A number, true, false or null has no delimiter of its own, and therefore ends at the end of its line.
type Documents struct {
	limit   int64
	tell    Tell
	held    buffer
	each    bool // each line holds one document (NDJSON)
	behind  bool // with each: the document of this line has ended, and the rest of the line is skipped
	depth   int  // number of open brackets
	text    bool // inside a string
	escaped bool // the previous byte of the string was a backslash
	scalar  bool // inside a number, true, false or null
}

// NewDocuments returns a Documents that passes each document to tell. It keeps at most limit bytes of a document.
// If each is true, a document ends with its line (NDJSON): the line's first document is passed on, and a document
// that the end of the line cuts is dropped.
func NewDocuments(limit int64, each bool, tell Tell) *Documents {
	return &Documents{limit: limit, each: each, tell: tell}
}

// Write passes each document that p completes to the Tell. It returns true as soon as the Tell returns true, and then
// skips the rest of p.
func (d *Documents) Write(p []byte) (enough bool) {
	from := 0 // where the current document starts in p
	for i, c := range p {
		switch isBlank := c == ' ' || c == '\n' || c == '\r' || c == '\t'; {
		case c == recordSeparator, c == '\n' && (d.text || d.each && d.depth > 0): // the current document was cut
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

// end passes the document that ends with the bytes last to the Tell, and returns its result.
func (d *Documents) end(last []byte) (enough bool) {
	if d.held.size > 0 || int64(len(last)) > d.limit {
		d.held.add(last, d.limit)
		last = d.held.kept
	}
	enough = d.tell(Message{Data: last, Size: max(d.held.size, int64(len(last)))})
	d.reset()
	d.behind = d.each
	return enough
}

func (d *Documents) reset() {
	d.held.reset()
	d.depth, d.text, d.escaped, d.scalar, d.behind = 0, false, false, false, false
}
