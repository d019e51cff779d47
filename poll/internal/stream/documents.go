package stream

// recordSeparator begins each text of a JSON text sequence (RFC 7464).
const recordSeparator = 0x1e

// Documents finds JSON documents, one after the other, and the texts of a JSON text sequence. A number, or
// another text that does not say where it ends, is whole once its line is.
type Documents struct {
	limit   int64
	tell    Tell
	held    buffer
	each    bool // each line is a document (NDJSON)
	behind  bool // one, and what is left of its line is none
	depth   int  // of brackets
	text    bool // within a string
	escaped bool // behind a backslash in it
	scalar  bool // the document is no object, array or string
}

// NewDocuments returns what finds documents, of which at most limit bytes are kept. With each, none has more
// than a line (NDJSON).
func NewDocuments(limit int64, each bool, tell Tell) *Documents {
	return &Documents{limit: limit, each: each, tell: tell}
}

// Write tells the documents that p completes.
func (d *Documents) Write(p []byte) (enough bool) {
	from := 0 // of the document, in p
	for i, c := range p {
		switch isBlank := c == ' ' || c == '\n' || c == '\r' || c == '\t'; {
		case c == recordSeparator, c == '\n' && (d.text || d.each && d.depth > 0): // what came before was cut
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

// end tells a document of which last is the end.
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
