package expr

import (
	"strings"

	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// A fault says why a value is unknown. It is small and holds no text, for a list
// may have a million of them; the words are made when somebody asks.
type fault struct {
	code faultCode
	got  Kind // of the value that could not be used
	want Kind // of the other side of a comparison
	// What could not be used is source[from:to], and what it was to be used for
	// is source[step:stop]. Both are empty where the source does not name them.
	from, to, step, stop int32
}

// newFault is the fault of a value that stands at subject and does not fit use.
func newFault(code faultCode, got Kind, subject, use syntax.Span) fault {
	return fault{
		code: code, got: got,
		from: int32(subject.From), to: int32(subject.To),
		step: int32(use.From), stop: int32(use.To),
	}
}

// A faultCode is a kind of fault.
type faultCode uint8

const (
	faultDocument  faultCode = iota // the document cannot be read
	faultField                      // .x of something without fields
	faultIndex                      // [n] of something that is no list
	faultList                       // a list step on something that is no list
	faultObject                     // a step for objects on something else
	faultText                       // a step for text on something else
	faultJSON                       // text that is not JSON
	faultNumber                     // text that is not a number
	faultLarge                      // a result too large to go on with
	faultLength                     // the length of a boolean, or of nothing
	faultOrder                      // an order between different types
	faultMember                     // contains of something that holds nothing
	faultEach                       // iterating over something without elements
	faultHas                        // has of the wrong kind of key
	faultAbandoned                  // there was no time left
	faultInternal                   // a defect of this package
)

// words tells the fault in a sentence about the source it happened in.
func (f fault) words(src string, doc *Doc) string {
	switch f.code {
	case faultDocument:
		return doc.problem()
	case faultAbandoned:
		return "the evaluation took longer than the attempt may"
	}
	subject, use := f.subject(src), strings.TrimLeft(src[f.step:f.stop], ".|")
	is := subject + " is " + f.got.noun()
	switch f.code {
	case faultField:
		return is + ", which has no field " + use
	case faultIndex:
		return is + ", not a list, for " + use
	case faultList:
		return is + ", not a list, for " + use + listHint(f.got)
	case faultObject:
		return is + ", not an object, for " + use
	case faultText:
		return is + ", and " + use + " needs text"
	case faultJSON:
		return is + ", of which " + use + " makes no JSON"
	case faultNumber:
		return is + ", of which " + use + " makes no number"
	case faultLarge:
		return is + ", too large for " + use
	case faultLength:
		return is + ", which has no length"
	case faultOrder:
		return is + ", which cannot be ordered against " + f.want.noun()
	case faultMember:
		return is + ", which contains nothing"
	case faultEach:
		return is + ", not a list"
	case faultHas:
		return is + ", of which " + use + " cannot be asked"
	}
	return "poll failed to evaluate it, which is a defect of poll"
}

// subject is the source of what could not be used.
func (f fault) subject(src string) string {
	if s := src[f.from:f.to]; s != "" {
		return strings.TrimSpace(s)
	}
	return "."
}

func listHint(got Kind) string {
	if got == KindObject {
		return "; put @values before it for the values of the object"
	}
	return ""
}

// unknown is the value that stands for a fault.
func unknown(f fault) value { return value{kind: KindUnknown, fault: f} }
