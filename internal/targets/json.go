package targets

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// readJSON reads a list, or values one after the other, from a byte of the file on. After
// an error it goes on at the next line that begins an object, unless that is in a list.
func (f *File) readJSON(at int) {
	isList := f.text[at] == '['
	for at >= 0 {
		r := jsonReader{File: f, base: at, decoder: json.NewDecoder(strings.NewReader(f.text[at:]))}
		bad := r.read(isList)
		if bad < 0 {
			return
		}
		at = strings.Index(f.text[bad:], "\n{")
		if at += bad + 1; at == bad || isList {
			return
		}
	}
}

// A jsonReader reads values with the places where they stand.
type jsonReader struct {
	*File
	decoder *json.Decoder
	base    int // where the decoder began
}

// read takes all entries. It returns where an error is, -1 if there is none.
func (r *jsonReader) read(isList bool) int {
	if isList {
		r.decoder.Token() // the bracket
	}
	var raw json.RawMessage
	for !isList || r.decoder.More() {
		at := r.next()
		if at < len(r.text) && r.full(at) {
			return -1
		}
		if err := r.decoder.Decode(&raw); err == io.EOF && !isList {
			return -1
		} else if err != nil {
			return r.reject(at, err)
		}
		value := jsonText{r.text, at}
		r.entry(at, value.node(maxNesting))
	}
	if _, err := r.decoder.Token(); err != nil {
		return r.reject(r.next(), err)
	}
	if at := r.next(); at < len(r.text) {
		r.rejectSyntax(at, "the list has ended, and more follows", "jq -s add makes one list of several")
		return at
	}
	return -1
}

// next returns where the next value begins, or the end of the list.
func (r *jsonReader) next() int {
	rest := r.text[r.base+int(r.decoder.InputOffset()):]
	return len(r.text) - len(strings.TrimLeft(rest, " \t\r\n,"))
}

// reject notes the error of the value at a byte, and returns where it is.
func (r *jsonReader) reject(at int, err error) int {
	message := err.Error()
	var raw json.RawMessage
	if e, ok := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(r.text[at:]), &raw)); ok &&
		!strings.HasSuffix(e.Error(), " after top-level value") { // else it is a comma that is missing
		message = e.Error()
		at += max(0, int(e.Offset)-1)
	}
	if at >= len(r.text) || strings.HasPrefix(message, "unexpected end") {
		at, message = len(strings.TrimRight(r.text, " \t\r\n"))-1, "the file ends before this is closed"
	}
	message, hint := wordsJSON(message, strings.TrimRight(r.text[:at], " \t\r\n"))
	r.rejectSyntax(at, message, hint)
	return at
}

// wordsJSON says in other words what the library says of a place, with a hint.
func wordsJSON(said, before string) (message, hint string) {
	message, needed := strings.CutSuffix(said, " looking for beginning of value")
	if key, isKey := strings.CutSuffix(said, " looking for beginning of object key string"); isKey {
		message, needed = key, true
	}
	switch {
	case needed && strings.HasSuffix(before, ",") && strings.ContainsAny(message, "]}"):
		return message + " after a comma", "no comma comes before ] and }"
	case needed:
		return message, "in JSON every text is in double quotes; in a YAML list each entry begins with \"- \""
	case strings.Contains(said, " after "):
		return message, "a comma is missing, or a text is not in double quotes"
	}
	return message, ""
}

// A jsonText is a text with a valid value in it, and where that begins.
type jsonText struct {
	text string
	at   int
}

// node reads a value and goes on behind it. What is nested deeper than an entry can be is
// not looked at.
func (t *jsonText) node(nesting int) node {
	t.space()
	n := node{Value: Value{at: t.at, form: formNone}}
	switch t.text[t.at] {
	case '[', '{':
		if nesting == 0 {
			n.kind, n.Text = kindBad, "it is nested too deep for an entry"
			t.skip()
		} else {
			t.inside(&n, nesting-1)
		}
	case '"':
		n.Text, n.form = t.string(), formDouble
	default:
		for t.at < len(t.text) && !strings.ContainsRune(",]} \t\r\n", rune(t.text[t.at])) {
			t.at++
		}
		n.Text, n.form = t.text[n.at:t.at], formPlain
		if n.Text == "null" {
			n.kind, n.form = kindNull, formNone
		}
	}
	return n
}

// inside reads what is in a list or an object, and drops what is beyond the limit.
func (t *jsonText) inside(n *node, nesting int) {
	n.kind = kindList
	if t.text[t.at] == '{' {
		n.kind, n.members = kindObject, make([]member, 0, 4)
	}
	for t.at++; ; {
		switch t.space(); t.text[t.at] {
		case ']', '}':
			t.at++
			return
		case ',':
			t.at++
			continue
		}
		var key Value
		if n.kind == kindObject {
			key = Value{at: t.at, form: formDouble}
			key.Text = t.string()
			t.space()
			t.at++ // the colon
		}
		switch value := t.node(nesting); {
		case len(n.items)+len(n.members) > maxValues: // enough to be refused
		case n.kind == kindObject:
			n.members = append(n.members, member{key, value})
		default:
			n.items = append(n.items, value)
		}
	}
}

func (t *jsonText) space() {
	for t.at < len(t.text) && strings.IndexByte(" \t\r\n", t.text[t.at]) >= 0 {
		t.at++
	}
}

// string reads a string.
func (t *jsonText) string() string {
	start, escaped := t.at, false
	for t.at++; t.text[t.at] != '"'; t.at++ {
		if t.text[t.at] == '\\' {
			t.at++
			escaped = true
		}
	}
	t.at++
	if !escaped {
		return t.text[start+1 : t.at-1]
	}
	var s string
	json.Unmarshal([]byte(t.text[start:t.at]), &s) // it is valid
	return s
}

// skip goes behind a list or an object.
func (t *jsonText) skip() {
	for depth := 0; ; t.at++ {
		switch t.text[t.at] {
		case '"':
			t.string()
			t.at--
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				t.at++
				return
			}
		}
	}
}
