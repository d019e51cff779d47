package expr

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A Doc is an answer read as JSON. It is checked once, at its first use, however many
// expressions share it. It is safe for concurrent use.
type Doc struct {
	text string
	part bool // of a document that was checked

	once    sync.Once
	count   int    // of its documents, 0 if it cannot be read
	root    value  // the document, if it is one
	problem string // why it is not one document

	decoding sync.Once
	tree     any // the document for gojq
}

// emptyBody is the problem of an answer without a document.
const emptyBody = "the body is empty"

// NewDoc returns the document of an answer. The body must not be changed while
// the Doc, or a value read from it, is in use. A byte order mark at its start is
// skipped; it may say that the body is UTF-16.
func NewDoc(body []byte) *Doc { return &Doc{text: decodeText(body)} }

// elementDoc is the document of an element, whose JSON is a part of another document.
func elementDoc(raw string) *Doc { return &Doc{text: raw, part: true, count: 1, root: parseValue(raw)} }

// Bytes returns the text of the document in UTF-8, without a byte order mark. It must not be changed.
func (d *Doc) Bytes() []byte { return unsafe.Slice(unsafe.StringData(d.text), len(d.text)) }

// Unreadable returns the document of an answer that cannot be JSON for a reason outside
// its text, such as "the body was cut at 64 MiB". Every path on it is unknown for that
// reason.
func Unreadable(reason string) *Doc { return &Doc{problem: reason} }

// read checks the text, for the first time only.
func (d *Doc) read() *Doc {
	if d == nil {
		return &Doc{problem: "there is no answer"}
	}
	if d.part {
		return d
	}
	d.once.Do(func() {
		if d.problem != "" {
			return
		}
		d.problem = d.check()
		switch {
		case d.problem != "":
			d.count = 0
		case d.count == 1:
			d.takeOne()
		default:
			d.problem = fmt.Sprintf("the body holds %d JSON documents: use ..0.name for the first, or ..#(name==\"x\")", d.count)
		}
	})
	return d
}

// takeOne takes the text for one valid document.
func (d *Doc) takeOne() { d.count, d.root = 1, parseValue(strings.TrimLeft(d.text, " \t\r\n")) }

// decoded is the document, which is one, as gojq takes it. It must not be changed.
func (d *Doc) decoded() any {
	d.decoding.Do(func() {
		decoder := json.NewDecoder(strings.NewReader(d.value().raw))
		decoder.UseNumber()
		if err := decoder.Decode(&d.tree); err != nil {
			panic(err) // what was found valid is not
		}
	})
	return d.tree
}

// value is the document as one value, unknown if it is not exactly one.
func (d *Doc) value() value {
	if d = d.read(); d.count != 1 {
		return unreadable(d)
	}
	return d.root
}

// lines is the document as a list of documents, unknown if it cannot be read.
func (d *Doc) lines() value {
	if d = d.read(); d.count == 0 {
		return unreadable(d)
	}
	return value{kind: kindLines, raw: d.text}
}

// check counts the documents, and says what is wrong with the first malformed one.
func (d *Doc) check() (problem string) {
	i := rawjson.SkipSpace(d.text, 0)
	if i == len(d.text) {
		return emptyBody
	}
	for i < len(d.text) {
		end, flaw := rawjson.Scan(d.text, i, rawjson.MaxDepth)
		if flaw != rawjson.NoFlaw {
			return d.flawed(end, flaw)
		}
		d.count++
		i = rawjson.SkipSpace(d.text, end)
		if i < len(d.text) && !strings.Contains(d.text[end:i], "\n") {
			return d.flawed(i, rawjson.BadSyntax)
		}
	}
	return ""
}

func (d *Doc) flawed(at int, flaw rawjson.Flaw) string {
	if flaw == rawjson.TooDeep {
		return fmt.Sprintf("the body is nested deeper than %d levels", rawjson.MaxDepth)
	}
	before := d.text[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	what := "it ends too early"
	if encoding := misread(d.text, at); encoding != "" {
		what = "it is " + encoding
	} else if flaw == rawjson.BadSyntax {
		rest, _, _ := strings.Cut(d.text[at:], "\n")
		what = rawjson.Preview(rest)
	}
	return fmt.Sprintf("the body is not JSON (line %d, column %d: %s)", line, column, what)
}
