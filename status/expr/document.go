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

// maxDepth is the deepest nesting of lists and objects in a document. Some parsers stop at 256 levels, some
// at 10,000. gjson has no limit, and a body of nothing but "[" would exhaust the stack.
const maxDepth = 1000

// A Doc is a response read as JSON. The text is checked once, at the first use of the Doc, for all
// expressions. A Doc is safe for concurrent use.
type Doc struct {
	text    string
	name    string // of a member of an object
	check   sync.Once
	root    value    // the document, if it is the only one
	lines   []string // the documents
	problem string   // the reason why the text is not one document
	unread  bool     // the problem is not in the text

	decode sync.Once
	tree   any // the document in the form of gojq
}

// emptyBody is the problem of a text without a document.
const emptyBody = "the body is empty"

// guards are the prefixes that keep browsers from running a document as a script. Gerrit, Angular, Google and
// Facebook send them.
var guards = [...]string{")]}',", ")]}'", "while(1);", "for(;;);"}

// NewDoc returns the document of a response. The body must not be changed while the Doc, or a value
// read from the Doc, is in use. NewDoc removes colors, and a prefix that keeps browsers from running the
// document as a script. A byte order mark is skipped, and a body with the mark of UTF-16 is decoded.
func NewDoc(body []byte) *Doc {
	text := decodeText(body)
	for _, guard := range guards {
		text = strings.TrimPrefix(text, guard)
	}
	return &Doc{text: text}
}

// newElement returns an element of a document as a document that needs no check. The name is "" except for
// a member of an object.
func newElement(v value, name string) *Doc {
	raw := v.json()
	d := &Doc{text: raw, root: parseValue(raw), lines: []string{raw}, name: name}
	d.check.Do(func() {})
	return d
}

// Unreadable returns a document that cannot be read for a reason outside its text, such as "the body was
// cut at 64 MiB". Every path on the document is unknown for that reason.
func Unreadable(reason string) *Doc {
	d := &Doc{problem: reason, unread: true}
	d.check.Do(func() {})
	return d
}

// Name returns the key of an element that is a member of an object, after the keys of the objects around
// the element, joined by slashes. Name returns "" for an element of a list, and for a response.
func (d *Doc) Name() string { return d.name }

// Bytes returns the text of the document in UTF-8, without a byte order mark. The bytes must not be changed.
func (d *Doc) Bytes() []byte { return unsafe.Slice(unsafe.StringData(d.text), len(d.text)) }

// value returns the only document of the text, or an unknown value.
func (d *Doc) value() value {
	if d == nil {
		return unknown("there is no answer")
	}
	if d.check.Do(d.read); d.problem != "" {
		return unknown(d.problem)
	}
	return d.root
}

// decoded returns the document in the form of gojq, which does not change the tree. It returns nil if the
// document is unknown.
func (d *Doc) decoded() any {
	d.decode.Do(func() {
		if v := d.value(); v.kind != kindUnknown {
			d.tree = v.decoded()
		}
	})
	return d.tree
}

// all returns the list of the documents, which is unknown if they cannot be read.
func (d *Doc) all() value {
	if v := d.value(); v.kind == kindUnknown && (d == nil || d.lines == nil) {
		return v
	}
	return value{kind: kindArray, raw: "[" + strings.Join(d.lines, ",") + "]"}
}

// read checks the text, and sets either root and lines or the problem.
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

// isTooDeep reports whether a JSON text nests lists and objects deeper than max levels.
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
		case c|' ' == '{': // or [
			if depth++; depth > max {
				return true
			}
		case c|' ' == '}':
			depth--
		}
	}
	return false
}

// isJSON reports whether a text is one JSON value that is not nested too deep.
func isJSON(s string) bool { return !isTooDeep(s, maxDepth) && gjson.Valid(s) }

// readLines reads several documents that begin on lines of their own. For a malformed document it
// describes the first flaw.
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
			d.problem = fmt.Sprintf("the body holds %d JSON documents: ..0.name is of the first, and .. is the list of them", len(d.lines))
			return
		case err == io.EOF:
			d.problem = emptyBody
			return
		case isSyntax: // a malformed constant is a flaw from its start
			at = max(at, len(strings.TrimRight(d.text[:max(at, int(wrong.Offset)-1)], "truefalsn")))
		case err != nil:
			at = len(d.text)
		}
		d.problem, d.lines = d.flaw(at), nil
		return
	}
}

// flaw returns the problem of a text that is not JSON at an offset.
func (d *Doc) flaw(at int) string {
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

// decodeText returns a text as UTF-8 without a byte order mark and colors. A text with the mark of UTF-16, as
// Windows programs write it, is decoded, and U+FFFD replaces malformed parts. Any other text without
// colors is not copied: a response may have 64 MiB, and this package never writes to the text.
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

// colors matches the sequences that set colors and styles in a terminal (SGR: ECMA-48, section 8.3.117).
var colors = words.Pattern(`\x1b\[[0-9;:]*m`)

// viewString returns b as a string without a copy. The bytes must not be changed.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
