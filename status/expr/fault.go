package expr

import (
	"strings"

	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// A fault says why a value is unknown. It holds no text, since a list may have a million
// of them: words are made on demand, except for a program in jq.
type fault struct {
	code    faultCode
	got     Kind        // of the value that could not be used
	want    Kind        // of the other side of a comparison
	subject syntax.Span // the source of that value, empty if it is "."
	use     syntax.Span // what it was to be used for
	said    string      // faultJQ: what is wrong
	doc     *Doc        // faultDocument: what cannot be read
}

// A faultCode is a kind of fault.
type faultCode uint8

const (
	faultNone      faultCode = iota
	faultDocument            // the document cannot be read
	faultAbandoned           // there was no time left
	faultInternal            // a defect of this package
	faultField               // .x of something without fields
	faultIndex               // [n] of something that is no list
	faultList                // a list step on something that is no list
	faultEach                // iterating over something without elements
	faultObject              // a step for objects on something else
	faultLarge               // a result too large to go on with
	faultJSON                // text that is not JSON
	faultNumber              // text that is not a number
	faultText                // something else where text is needed
	faultIn                  // a search in something that is no list
	faultContains            // a search in something that holds nothing
	faultHas                 // has of the wrong kind of key
	faultLength              // the length of a boolean
	faultOrder               // an order between different types
	faultCut                 // something that the missing part of a text decides
	faultJQ                  // a program in jq gives no value
)

// faultWords continue ".x is a string, " with what is wrong. USE stands for what the
// value was to be used for, WANT for the type of the other side. After the value itself,
// only the reason is given.
var faultWords = [...]struct{ joint, reason string }{
	faultField:    {"which ", "has no field USE"},
	faultIndex:    {"", "not a list, for USE"},
	faultList:     {"", "not a list, for USE"},
	faultEach:     {"", "not a list"},
	faultObject:   {"", "not an object, for USE"},
	faultLarge:    {"", "too large for USE"},
	faultJSON:     {"of which ", "USE makes no JSON"},
	faultNumber:   {"of which ", "USE makes no number"},
	faultText:     {"and ", "USE needs text"},
	faultIn:       {"and ", "USE needs a list"},
	faultContains: {"and ", "USE needs text or a list"},
	faultHas:      {"and ", "USE needs an object for a key, or a list for a number"},
	faultLength:   {"which ", "has no length"},
	faultOrder:    {"which ", "cannot be ordered against WANT"},
	faultCut:      {"of which ", "only the end is kept"},
}

// words describes the fault in a sentence.
func (f *fault) words(src string) string {
	switch f.code {
	case faultDocument:
		return f.doc.read().problem
	case faultAbandoned:
		return "the evaluation took longer than the attempt may"
	case faultInternal:
		return "poll failed to evaluate it, which is a defect of poll"
	case faultJQ:
		return "it " + f.said
	}
	return subjectOf(f.subject, src) + " is " + f.got.noun() + ", " + faultWords[f.code].joint + f.reason(src)
}

// reason says what is wrong with the value.
func (f *fault) reason(src string) string {
	use := strings.TrimLeft(f.use.Of(src), ".|")
	reason := strings.NewReplacer("USE", use, "WANT", f.want.noun()).Replace(faultWords[f.code].reason)
	switch {
	case f.code == faultList && f.got == KindObject:
		reason += "; put @values before it for the values of the object"
	case f.code == faultIn && f.got == KindObject:
		reason += "; @values makes one of the values of an object"
	}
	return reason
}

// subjectOf is the source of a value.
func subjectOf(s syntax.Span, src string) string {
	if text := strings.TrimSpace(s.Of(src)); text != "" {
		return text
	}
	return "."
}

// unknown is the value that stands for a fault.
func unknown(f fault) value { return value{fault: &f} }

// unreadable is the value of a document that cannot be read.
func unreadable(d *Doc) value { return unknown(fault{code: faultDocument, doc: d}) }

// failure is the fault of an evaluation that ended with a panic.
func failure(p any) *fault {
	if _, ok := p.(abandoned); ok {
		return &fault{code: faultAbandoned}
	}
	return &fault{code: faultInternal}
}
