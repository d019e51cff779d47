package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
	"golang.org/x/text/encoding/unicode"

	"github.com/pollcli/poll/internal/words"
)

// maxDepth is the maximum nesting depth of lists and objects in a document. JSON parsers differ in their limits,
// from 256 to 10,000 levels. gjson has no limit, so a body of nothing but "[" would exhaust the stack.
const maxDepth = 1000

// A Doc is a response that is read as JSON. Its text is checked only once, on first use, even if many expressions
// read the Doc. A Doc is safe for concurrent use.
type Doc struct {
	text    string
	name    string // the key, if the Doc is a member of an object; see Name
	check   sync.Once
	root    value    // the document, if the text is exactly one document
	lines   []string // the text of each document, if the text is a sequence of documents
	problem string   // why the text is not exactly one document, or ""
	unread  bool     // the problem has a cause other than the text; see Unreadable

	decode sync.Once
	tree   any // the document as a tree of Go values, which gojq reads
}

// emptyBody is the problem of a text that contains no document.
const emptyBody = "the body is empty"

// guards are prefixes that prevent a browser from running a JSON document as a script. Gerrit, Angular, Google and
// Facebook send them.
var guards = [...]string{")]}',", ")]}'", "while(1);", "for(;;);"}

// NewDoc returns the document in the body of a response. The body must not be changed while the Doc, or a value
// read from the Doc, is in use. NewDoc removes terminal colors, and a prefix that prevents browsers from running
// the document as a script. It skips a byte order mark, and decodes a body that starts with the byte order mark of
// UTF-16.
func NewDoc(body []byte) *Doc {
	text := decodeText(body)
	for _, guard := range guards {
		text = strings.TrimPrefix(text, guard)
	}
	return &Doc{text: text}
}

// newElement returns the document for v, which is an element of a document that has been checked. name is the key
// of v if v is a member of an object, and otherwise "".
func newElement(v value, name string) *Doc {
	raw := v.json()
	d := &Doc{text: raw, root: parseValue(raw), lines: []string{raw}, name: name}
	d.check.Do(func() {})
	return d
}

// Unreadable returns a document that cannot be read for a reason other than its text, such as "the body was cut at
// 64 MiB". Every path in the document is unknown for that reason.
func Unreadable(reason string) *Doc {
	d := &Doc{problem: reason, unread: true}
	d.check.Do(func() {})
	return d
}

// Name returns the key of d if d is an element that [Each.Elements] has found in an object. The keys of enclosing
// objects come first, separated by slashes. Name returns "" for an element of a list, and for a response.
func (d *Doc) Name() string { return d.name }

// Bytes returns the text of the document in UTF-8, without a byte order mark. The caller must not change the
// bytes. If d is nil, Bytes returns nil.
func (d *Doc) Bytes() []byte {
	if d == nil {
		return nil
	}
	return unsafe.Slice(unsafe.StringData(d.text), len(d.text))
}

// Last returns the text of the document. If the text consists of several documents, as in JSON lines, Last returns
// the text of the last document. It returns "" if the text is not JSON, or if d is nil.
func (d *Doc) Last() string {
	if d.value(); d == nil || len(d.lines) == 0 {
		return ""
	}
	return d.lines[len(d.lines)-1]
}

// value returns the document as a value. The value is unknown if d is nil, or if the text is not exactly one
// document.
func (d *Doc) value() value {
	if d == nil {
		return unknown("there is no response")
	}
	if d.check.Do(d.read); d.problem != "" {
		return unknown(d.problem)
	}
	return d.root
}

// decoded returns the document as a tree of Go values. gojq reads the tree, but does not change it. If the document
// is unknown, decoded returns nil.
func (d *Doc) decoded() any {
	d.decode.Do(func() {
		if v := d.value(); v.kind != kindUnknown {
			d.tree = v.decoded()
		}
	})
	return d.tree
}

// all returns the list of all documents in the text. If the documents cannot be read, or if d is nil, the list is
// unknown.
func (d *Doc) all() value {
	if v := d.value(); d == nil || d.lines == nil {
		return v
	}
	return value{kind: kindArray, raw: "[" + strings.Join(d.lines, ",") + "]"}
}

// read checks the text. If it is a single document, read sets root and lines. Otherwise, read calls readLines, or
// sets problem if the nesting is too deep.
func (d *Doc) read() {
	switch {
	case isTooDeep(d.text, maxDepth):
		d.problem = fmt.Sprintf("the body is nested deeper than %d levels", maxDepth)
	case gjson.Valid(d.text):
		d.root, d.lines = parseValue(d.text), []string{d.text}
	default:
		d.readLines()
	}
}

// isTooDeep reports whether lists and objects in the JSON text s are nested deeper than max levels.
func isTooDeep(s string, max int) bool {
	if strings.Count(s, "[")+strings.Count(s, "{") <= max {
		return false
	}
	depth, inText := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c|' ' == '{': // true for { and for [
			if depth++; depth > max {
				return true
			}
		case c|' ' == '}':
			depth--
		}
	}
	return false
}

// isJSON reports whether s is a single JSON value that is not nested too deep.
func isJSON(s string) bool { return !isTooDeep(s, maxDepth) && gjson.Valid(s) }

// readLines reads a text that is not a single valid document. If every document in the text starts on a new line, as
// in JSON lines, readLines sets lines, and sets problem to a message with the number of documents. Otherwise, it
// sets problem to a description of the first error.
func (d *Doc) readLines() {
	decoder := json.NewDecoder(strings.NewReader(d.text))
	for end := 0; ; end = int(decoder.InputOffset()) {
		var raw json.RawMessage
		at, err := len(d.text)-len(strings.TrimLeft(d.text[end:], " \t\r\n")), decoder.Decode(&raw)
		switch wrong, isSyntax := errors.AsType[*json.SyntaxError](err); {
		case err == nil && (end == 0 || strings.Contains(d.text[end:at], "\n")):
			d.lines = append(d.lines, d.text[at:decoder.InputOffset()])
			continue
		case err == io.EOF && d.lines != nil:
			d.problem = fmt.Sprintf("the body holds %d JSON documents: write ..0.name for the first, and .. for the list of all", len(d.lines))
			return
		case err == io.EOF:
			d.problem = emptyBody
			return
		case isSyntax: // in a malformed true, false or null, the error is at the first letter
			at = max(at, len(strings.TrimRight(d.text[:max(at, int(wrong.Offset)-1)], "truefalsn")))
		case err != nil:
			at = len(d.text)
		}
		d.problem, d.lines = d.syntaxProblem(at), nil
		return
	}
}

// syntaxProblem returns a description of the error at d.text[at], where the text stops being JSON.
func (d *Doc) syntaxProblem(at int) string {
	before := d.text[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	rest, _, _ := strings.Cut(d.text[at:], "\n")
	what := preview(rest)
	if at == len(d.text) {
		what = "it ends too early"
	}
	return fmt.Sprintf("the body is not JSON (line %d, column %d: %s)", line, column, what)
}

// decodeText returns b as a string in UTF-8, without a byte order mark and without terminal colors. If b starts with
// the byte order mark of UTF-16, which Windows programs write, decodeText decodes b, and replaces malformed parts by
// U+FFFD. If b needs no change, decodeText does not copy it, because a response may have 64 MiB and this package
// never writes to it.
func decodeText(b []byte) string {
	s := viewString(b)
	if strings.HasPrefix(s, "\xfe\xff") || strings.HasPrefix(s, "\xff\xfe") {
		b, _ = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(b) // never fails
		s = viewString(b)
	}
	s = strings.TrimPrefix(s, "\ufeff")
	if strings.Contains(s, "\x1b[") {
		s = colors().ReplaceAllString(s, "")
	}
	return s
}

// colors matches the escape sequences that set colors and styles in a terminal (SGR: ECMA-48, section 8.3.117).
var colors = words.Pattern(`\x1b\[[0-9;:]*m`)

// viewString returns b as a string without copying b. The bytes must not be changed afterwards.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
