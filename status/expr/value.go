package expr

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// A Tri is the outcome of a condition: true, false or unknown.
type Tri uint8

// The three outcomes. A condition is Unknown if a value that it needs is missing, or if a value has the wrong
// type, such as a string where a number is needed. An unknown condition does not match, and its negation is
// unknown, too.
const (
	False Tri = iota
	True
	Unknown
)

// String returns "true", "false" or "unknown".
func (t Tri) String() string { return [...]string{"false", "true", "unknown"}[t] }

// A Value is the value of an expression.
type Value struct {
	// Type is the name of the type in jq: "null", "boolean", "number", "string", "array" or "object". If there is
	// no value, it is "missing" or "unknown".
	Type   string
	Raw    string // the value as JSON; "" if there is no value
	Reason string // why the value is unknown or missing; otherwise ""

	text string
}

// Exists reports whether there is a value: v is neither missing nor unknown.
func (v Value) Exists() bool { return v.Raw != "" }

// Text returns the characters of a string, or any other value as JSON. It returns "" if there is no value.
func (v Value) Text() string {
	if v.Type == "string" {
		return v.text
	}
	return v.Raw
}

// A kind is the type of a value.
type kind uint8

const (
	kindUnknown kind = iota // the value could not be read
	kindMissing             // the path leads nowhere
	kindNull
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// String returns the name of the type in jq, or "missing" or "unknown".
func (k kind) String() string {
	return [...]string{"unknown", "missing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// noun returns the kind with an article where English needs one, as in "a string". For an array, it returns "a
// list".
func (k kind) noun() string {
	return [...]string{"unknown", "missing", "null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// A value is the value of a part of an expression. It refers to the text of the document, and is decoded only if
// necessary.
type value struct {
	kind   kind
	raw    string // the value as JSON; may be "" for a string
	str    string // the characters of a string
	shown  string // the value in explanations; if "", raw is shown
	detail string // why the value is unknown

	hidden bool // explanations must not show the value, because it comes from a header or the environment
	lost   cut  // the ends of a string that have been lost
	least  int  // the smallest number that an unknown count can be
	evidence
}

func missing() value              { return value{kind: kindMissing} }
func boolean(b bool) value        { return value{kind: kindBool, raw: strconv.FormatBool(b)} }
func number(text string) value    { return value{kind: kindNumber, raw: text} }
func integer(n int) value         { return number(strconv.Itoa(n)) }
func text(s string) value         { return value{kind: kindString, str: s} }
func unknown(why string) value    { return value{detail: words.OneLine(why)} }
func parseValue(raw string) value { return fromResult(gjson.Parse(raw)) }

// typeError returns an unknown value, because v has the wrong type. subject is the source of v. problem describes
// the type that is needed.
func typeError(subject string, v value, problem string) value {
	return unknown(cmp.Or(subject, ".") + " is " + v.kind.noun() + ", and " + problem)
}

// fromResult returns r, the result of a search in a valid document, as a value. If gjson has found nothing, the
// value is missing.
func fromResult(r gjson.Result) value {
	if r.Raw == "" {
		return missing()
	}
	kinds := [...]kind{
		gjson.Null: kindNull, gjson.False: kindBool, gjson.True: kindBool,
		gjson.Number: kindNumber, gjson.String: kindString, gjson.JSON: kindArray,
	}
	v := value{kind: kinds[r.Type], raw: strings.TrimSpace(r.Raw), str: r.Str}
	if r.IsObject() {
		v.kind = kindObject
	}
	return v
}

// derivedFrom returns v, the result of an operation on parts, with the combined evidence of the parts. It hides the
// result if any part is hidden.
func (v value) derivedFrom(parts ...value) value {
	for i := range parts {
		v.hidden = v.hidden || parts[i].hidden
		v.evidence = v.evidence.and(parts[i].evidence)
	}
	return v
}

// isNull reports whether v is null or missing. Comparisons treat the two alike.
func (v value) isNull() bool { return v.kind == kindNull || v.kind == kindMissing }

// isNothing reports whether v is null or missing, or true or false only because something is missing.
func (v value) isNothing() bool { return v.isNull() || v.isAbsent() }

// isEmpty reports whether v is unknown, missing, null, false, 0, or an empty string, list or object.
func (v value) isEmpty() bool {
	switch v.kind {
	case kindString:
		return v.str == ""
	case kindArray, kindObject:
		return strings.TrimSpace(v.raw[1:len(v.raw)-1]) == ""
	}
	return v.kind <= kindNull || v.raw == "false" || v.raw == "0"
}

// absence returns the predicate of a sentence about an absent value, such as " is missing". The subject of the
// sentence is the source of the value.
func (v value) absence() string {
	switch {
	case v.kind == kindNull:
		return " is null"
	case strings.Contains(v.missed, "#("):
		return " tests a member that no element has"
	}
	return " is missing"
}

// json returns v as JSON text. It returns "" if v is missing.
func (v value) json() string {
	if v.raw == "" && v.kind == kindString {
		return marshal(v.str)
	}
	return v.raw
}

// decoded returns a known value as a tree of Go values for gojq. Numbers keep all their digits.
func (v value) decoded() (tree any) {
	decoder := json.NewDecoder(strings.NewReader(cmp.Or(v.json(), "null")))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		panic(err) // the text of a known value is valid
	}
	return tree
}

// marshal returns v, a value of gojq, as JSON in the format of jq. It replaces invalid UTF-8 by U+FFFD.
func marshal(v any) string {
	b, _ := gojq.Marshal(v) // never fails
	return string(b)
}

// truth returns the outcome of v as a condition. Null, missing and false count as false. A string that may be
// meant as false, such as "no", is unknown. Every other value counts as true, even 0 and [].
func (v value) truth() Tri {
	switch {
	case v.kind == kindUnknown || v.mayMeanFalse():
		return Unknown
	case v.isNull() || v.raw == "false":
		return False
	}
	return True
}

// mayMeanFalse reports whether v is a string that may be meant as false: "", or one of false, no, off and 0 in any case.
func (v value) mayMeanFalse() bool {
	return v.kind == kindString && (v.str == "" || isOneOf(strings.ToLower(v.str), " false no off 0 "))
}

// undecided returns v as an unknown value. The truth of v must be unknown.
func (v value) undecided() value {
	if v.kind != kindUnknown {
		v.kind, v.detail = kindUnknown, v.preview()+" is a text"
	}
	return v
}

// previewSize is the number of characters that explanations show of a value.
const previewSize = 60

// preview returns v as it appears in explanations, on one line and shortened.
func (v value) preview() string {
	switch {
	case v.hidden && v.kind > kindBool:
		return "not shown"
	case v.kind == kindString:
		return preview(v.str)
	case v.kind <= kindMissing:
		return v.kind.String()
	}
	start := words.Cut(cmp.Or(v.shown, v.raw), 4*previewSize) // long enough to leave previewSize characters after white space is collapsed
	return words.OneLine(words.Shorten(strings.Join(strings.Fields(start), " "), previewSize))
}

// preview returns s in quotes and shortened. Unprintable characters are escaped.
func preview(s string) string {
	shown := words.Cut(s, previewSize)
	if len(shown) < len(s) {
		return strconv.Quote(shown) + "..."
	}
	return strconv.Quote(shown)
}

// isOneOf reports whether list contains word. In list, each word has a space on either side.
func isOneOf(word, list string) bool { return word != "" && strings.Contains(list, " "+word+" ") }

// A ground is the reason why a condition has its outcome. If an outcome rests on several grounds, the highest ground
// counts. For example, .state == "done" and not .error rests on a value, although .error is missing.
type ground uint8

const (
	onNothing ground = iota // no path was read, as for a literal
	onAbsence               // a path led nowhere
	onValue                 // a path led to a value
	onLack                  // a query tested a member that no element has
)

// The evidence of a value is the ground of the outcome, with details.
type evidence struct {
	ground   ground
	missed   string // the source of the path that led nowhere, if ground is onAbsence or onLack
	positive bool   // the outcome is affirmed (see [Result.Affirmed]); for an operand, the operand is a non-empty value from the response
}

// isAbsent reports whether an outcome rests on absence alone: the condition would be true or false only because
// something is missing. Such an outcome is changed to unknown.
func (e evidence) isAbsent() bool { return e.ground == onAbsence || e.ground == onLack }

// and returns the evidence of an outcome that needs two conditions, whose evidence is e and other.
func (e evidence) and(other evidence) evidence {
	return e.choose(other, other.ground > e.ground, e.positive || other.positive)
}

// or returns the evidence of an outcome that needs only one of two conditions, whose evidence is e and other.
func (e evidence) or(other evidence) evidence {
	return e.choose(other, !other.isAbsent(), e.positive || other.positive)
}

// each returns the evidence of an outcome of all or count, which needs sufficient evidence for every element. e and
// other are the evidence for two elements.
func (e evidence) each(other evidence) evidence {
	return e.choose(other, other.isAbsent(), e.positive && other.positive)
}

// choose returns e, or other if isOther is true. It sets the field positive of the result.
func (e evidence) choose(other evidence, isOther, positive bool) evidence {
	if isOther {
		e = other
	}
	e.positive = positive
	return e
}
