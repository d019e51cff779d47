package expr

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A Doc is an answer read as JSON. It is checked once, when it is first asked
// for, however many expressions share it. It is safe for concurrent use.
type Doc struct {
	text   string
	reason string // why it is unreadable whatever it holds

	once sync.Once
	// Set by check:
	state docState
	root  value
	flaw  rawjson.Flaw
	at    int // of the flaw, or where the second document begins
	count int // of documents
}

// A docState says what the check of a document found.
type docState uint8

const (
	docOne     docState = iota // one JSON document
	docLines                   // several, each on lines of its own
	docBlank                   // nothing but white space
	docFlawed                  // not JSON
	docOutside                 // unreadable for an outside reason
)

const byteOrderMark = "\ufeff"

// NewDoc returns the document of an answer. The body must not be changed while
// the Doc, or a value read from it, is in use. A byte order mark at its start is
// skipped.
func NewDoc(body []byte) *Doc {
	// No copy: an answer may have 64 MiB, and nothing here writes to it.
	return &Doc{text: strings.TrimPrefix(viewString(body), byteOrderMark)}
}

// Unreadable returns the document of an answer that cannot be JSON for a reason
// outside of its text, such as "the body was cut at 64 MiB". Every path on it is
// unknown for that reason.
func Unreadable(reason string) *Doc { return &Doc{reason: reason} }

// value is the document as one value, unknown if it is not exactly one.
func (d *Doc) value() value {
	if d.check() != docOne {
		return unknown(fault{code: faultDocument})
	}
	return d.root
}

// lines is the document as a list of documents, unknown if it is none.
func (d *Doc) lines() value {
	if s := d.check(); s != docOne && s != docLines {
		return unknown(fault{code: faultDocument})
	}
	return value{kind: kindLines, raw: d.text}
}

// check looks through the text once.
func (d *Doc) check() docState {
	if d == nil {
		return docOutside
	}
	d.once.Do(func() {
		d.state = d.scan()
		if d.state == docOne {
			d.root = fromResult(gjson.Parse(strings.Trim(d.text, " \t\r\n")))
		}
	})
	return d.state
}

// scan counts the JSON documents, up to the first flaw.
func (d *Doc) scan() docState {
	if d.reason != "" {
		return docOutside
	}
	i := rawjson.SkipSpace(d.text, 0)
	if i == len(d.text) {
		return docBlank
	}
	for i < len(d.text) {
		end, f := rawjson.Scan(d.text, i, rawjson.MaxDepth)
		if f != rawjson.NoFlaw {
			d.flaw, d.at = f, end
			return docFlawed
		}
		d.count++
		i = rawjson.SkipSpace(d.text, end)
		if i < len(d.text) && !strings.Contains(d.text[end:i], "\n") {
			d.flaw, d.at = rawjson.BadSyntax, i
			return docFlawed
		}
	}
	if d.count > 1 {
		return docLines
	}
	return docOne
}

// problem says why the document cannot be read, "" if it can.
func (d *Doc) problem() string {
	switch d.check() {
	case docOutside:
		if d == nil {
			return "there is no answer"
		}
		return d.reason
	case docBlank:
		return "the body is empty"
	case docLines:
		return fmt.Sprintf("the body holds %d JSON documents: use ..0.name for the first, or ..#(name==\"x\")", d.count)
	case docFlawed:
		return d.flawed()
	}
	return ""
}

func (d *Doc) flawed() string {
	if d.flaw == rawjson.TooDeep {
		return fmt.Sprintf("the body is nested deeper than %d levels", rawjson.MaxDepth)
	}
	before := d.text[:d.at]
	line := strings.Count(before, "\n") + 1
	start := strings.LastIndexByte(before, '\n') + 1
	column := utf8.RuneCountInString(before[start:]) + 1
	if d.flaw == rawjson.TooShort {
		return fmt.Sprintf("the body is not JSON (line %d, column %d: it ends too early)", line, column)
	}
	rest, _, _ := strings.Cut(d.text[d.at:], "\n")
	return fmt.Sprintf("the body is not JSON (line %d, column %d: %s)", line, column, rawjson.Preview(rest))
}
