package expr

import "fmt"

// A fault says why a value is unknown. It is small and holds no text, for a list
// may have a million of them; the words are made when somebody asks.
type fault struct {
	code faultCode
	got  Kind // of the value that could not be used
	want Kind // of the other side of a comparison
	// The span of the source that was at work: what was read is
	// source[from:at], how it should have been used source[at:to].
	from, at, to int32
}

// A faultCode is a kind of fault.
type faultCode uint8

const (
	faultDocument faultCode = iota // the document cannot be read
	faultField                     // .x of something without fields
	faultIndex                     // [n] of something that is no list
	faultList                      // a list step on something that is no list
	faultObject                    // a step for objects on something else
	faultText                      // a step for text on something else
	faultJSON                      // text that is not JSON
	faultNumber                    // text that is not a number
	faultLarge                     // a result too large to go on with
	faultLength                    // the length of a boolean, or of nothing
	faultOrder                     // an order between different types
	faultMember                    // contains of something that holds nothing
	faultEach                      // iterating over something without elements
	faultElement                   // an element for which the condition is unknown
	faultHas                       // has of the wrong kind of key
	faultInternal                  // a defect of this package
)

// words tells the fault in a sentence about the source it happened in.
func (f fault) words(src string, doc *Doc) string {
	if f.code == faultDocument {
		return doc.problem()
	}
	read, step := f.read(src), src[f.at:f.to]
	switch f.code {
	case faultField:
		return fmt.Sprintf("%s is %s, which has no field %s", read, f.got.noun(), step)
	case faultIndex:
		return fmt.Sprintf("%s is %s, not a list, for %s", read, f.got.noun(), step)
	case faultList:
		return fmt.Sprintf("%s is %s, not a list, for %s%s", read, f.got.noun(), step, listHint(f.got))
	case faultObject:
		return fmt.Sprintf("%s is %s, not an object, for %s", read, f.got.noun(), step)
	case faultText:
		return fmt.Sprintf("%s is %s, and %s needs text", read, f.got.noun(), step)
	case faultJSON:
		return fmt.Sprintf("%s is text that is not JSON, for %s", read, step)
	case faultNumber:
		return fmt.Sprintf("%s is %s that is not a number, for %s", read, f.got.noun(), step)
	case faultLarge:
		return fmt.Sprintf("the result of %s is too large", step)
	case faultLength:
		return fmt.Sprintf("%s is %s, which has no length", read, f.got.noun())
	case faultOrder:
		return fmt.Sprintf("%s cannot be ordered against %s", f.got.noun(), f.want.noun())
	case faultMember:
		return fmt.Sprintf("%s is %s, which contains nothing", read, f.got.noun())
	case faultEach:
		return fmt.Sprintf("%s is %s, not a list", read, f.got.noun())
	case faultElement:
		return fmt.Sprintf("%s is unknown for an element", src[f.from:f.to])
	case faultHas:
		return fmt.Sprintf("%s is %s, which %s cannot be asked of", read, f.got.noun(), step)
	}
	return "poll failed to evaluate it, which is a defect of poll"
}

// read is the source of what was read.
func (f fault) read(src string) string {
	if s := src[f.from:f.at]; s != "" {
		return s
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
