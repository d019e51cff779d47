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

// maxDepth is the deepest nesting of lists and objects in an answer that is read. Some
// parsers stop at 256, some at 10,000; gjson stops nowhere, and a body of nothing but "["
// would exhaust the stack.
const maxDepth = 1000

// A Doc is an answer read as JSON. It is checked once, at its first use, however many
// expressions share it. It is safe for concurrent use.
type Doc struct {
	text    string
	name    string // of a member of an object
	check   sync.Once
	root    value    // the document, if it is the only one
	lines   []string // the documents
	problem string   // why it is not one document
	unread  bool     // the problem is not in the text

	decode sync.Once
	tree   any // the document as gojq takes it
}

// emptyBody is the problem of an answer without a document.
const emptyBody = "the body is empty"

// NewDoc returns the document of an answer. The body must not be changed while
// the Doc, or a value read from it, is in use. A byte order mark at its start is
// skipped; it may say that the body is UTF-16. Colors are removed, and a prefix that keeps browsers
// from running the document as a script is skipped.
func NewDoc(body []byte) *Doc {
	text := decodeText(body)
	for _, guard := range []string{")]}',", ")]}'", "while(1);", "for(;;);"} { // of Gerrit, Angular, Google, Facebook
		if rest, isGuarded := strings.CutPrefix(text, guard); isGuarded {
			text = rest
		}
	}
	return &Doc{text: text}
}

// element returns an element, of an object with its name, as a document. It is not checked again.
func element(v value, name string) *Doc {
	raw := v.json()
	d := &Doc{text: raw, root: parseValue(raw), lines: []string{raw}, name: name}
	d.check.Do(func() {})
	return d
}

// Unreadable returns the document of an answer that cannot be JSON for a reason outside
// its text, such as "the body was cut at 64 MiB". Every path on it is unknown for that
// reason.
func Unreadable(reason string) *Doc {
	d := &Doc{problem: reason, unread: true}
	d.check.Do(func() {})
	return d
}

// Name returns the key of an element that is a member of an object, joined by slashes to those
// of the objects around that. It is "" for an element of a list, and for an answer.
func (d *Doc) Name() string { return d.name }

// Bytes returns the text of the document in UTF-8, without a byte order mark. It must not be changed.
func (d *Doc) Bytes() []byte { return unsafe.Slice(unsafe.StringData(d.text), len(d.text)) }

// value is the document as one value, unknown if it is not exactly one.
func (d *Doc) value() value {
	if d == nil {
		return unknown("there is no answer")
	}
	if d.check.Do(d.read); d.problem != "" {
		return unknown(d.problem)
	}
	return d.root
}

// decoded is the document as gojq takes it, which does not change it; nil if it is unknown.
func (d *Doc) decoded() any {
	d.decode.Do(func() {
		if v := d.value(); v.kind != kindUnknown {
			d.tree = v.decoded()
		}
	})
	return d.tree
}

// all is the list of the documents, unknown if they cannot be read.
func (d *Doc) all() value {
	if v := d.value(); v.kind == kindUnknown && (d == nil || d.lines == nil) {
		return v
	}
	return value{kind: kindArray, raw: "[" + strings.Join(d.lines, ",") + "]"}
}

// read checks the text.
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

// isTooDeep reports whether lists and objects in a text are nested too deep, if it is JSON.
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

// readLines reads several documents, each on lines of its own, and describes the flaw of the
// first malformed one.
func (d *Doc) readLines() {
	decoder := json.NewDecoder(strings.NewReader(d.text))
	for end := 0; ; end = int(decoder.InputOffset()) {
		at := len(d.text) - len(strings.TrimLeft(d.text[end:], " \t\r\n"))
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if err == nil && (end == 0 || strings.Contains(d.text[end:at], "\n")) {
			d.lines = append(d.lines, d.text[at:decoder.InputOffset()])
			continue
		}
		switch wrong, _ := errors.AsType[*json.SyntaxError](err); {
		case err == io.EOF && d.lines != nil:
			d.problem = fmt.Sprintf("the body holds %d JSON documents: ..0.name is of the first, and .. is the list of them", len(d.lines))
			return
		case err == io.EOF:
			d.problem = emptyBody
		case wrong != nil:
			word := strings.TrimRight(d.text[:max(at, int(wrong.Offset)-1)], "truefalsn") // which began as a constant
			d.problem = d.flawed(max(at, len(word)))
		case err != nil:
			d.problem = d.flawed(len(d.text))
		default:
			d.problem = d.flawed(at)
		}
		d.lines = nil
		return
	}
}

// flawed says that the text is not JSON, and shows the place at an offset.
func (d *Doc) flawed(at int) string {
	before := d.text[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	rest, _, _ := strings.Cut(d.text[at:], "\n")
	what := preview(rest)
	if at == len(d.text) {
		what = "it ends too early"
	} else if r, size := utf8.DecodeRuneInString(rest); r == utf8.RuneError && size == 1 {
		what = "it is no UTF-8"
	}
	return fmt.Sprintf("the body is not JSON (line %d, column %d: %s)", line, column, what)
}

// decodeText returns a text as UTF-8 without its byte order mark and its colors. It makes no copy of
// a text without colors: an answer may have 64 MiB, and this package never writes to it. A text in
// UTF-16, as programs of Windows write it, is known by that mark. What is no character becomes U+FFFD.
func decodeText(b []byte) string {
	s := viewString(b)
	if strings.HasPrefix(s, "\xfe\xff") || strings.HasPrefix(s, "\xff\xfe") {
		b, _ = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(b) // which knows no errors
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

// viewString is the text of b without a copy; b must not be changed.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
