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

// The three outcomes. Unknown stands for a missing value, and for a runtime error in jq, such as
// text where a number is needed. Unknown never matches, and neither does its negation.
const (
	False Tri = iota
	True
	Unknown
)

// String returns "true", "false" or "unknown".
func (t Tri) String() string { return [...]string{"false", "true", "unknown"}[t] }

// A Value is the value of an expression.
type Value struct {
	// Type is jq's name of the type: "null", "boolean", "number", "string", "array" or "object".
	// Without a value, Type is "missing" or "unknown".
	Type   string
	Raw    string // JSON text; "" without a value
	Reason string // the reason why the value is unknown or missing; otherwise ""

	text string
}

// Exists reports whether the value is neither missing nor unknown.
func (v Value) Exists() bool { return v.Raw != "" }

// Text returns the characters of a string, and any other value as JSON.
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

// String returns the name that jq has for the kind. A value that is missing or unknown has no such name.
func (k kind) String() string {
	return [...]string{"unknown", "missing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// noun returns the kind as a part of a sentence: "a string".
func (k kind) noun() string {
	return [...]string{"unknown", "missing", "null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// A value is the value of a part of an expression: a kind and a text of the document, which is
// decoded only if necessary.
type value struct {
	kind   kind
	raw    string // JSON text; may be "" for a string
	str    string // the characters of a string
	shown  string // the text for an explanation, "" for raw
	detail string // the reason why the value is unknown

	hidden bool // the value holds text of a header or of the environment, which is never shown
	lost   cut  // the parts that a text lacks
	least  int  // the lower bound of an unknown count
	evidence
}

func missing() value              { return value{kind: kindMissing} }
func boolean(b bool) value        { return value{kind: kindBool, raw: strconv.FormatBool(b)} }
func number(text string) value    { return value{kind: kindNumber, raw: text} }
func integer(n int) value         { return number(strconv.Itoa(n)) }
func text(s string) value         { return value{kind: kindString, str: s} }
func unknown(why string) value    { return value{detail: words.OneLine(why)} }
func parseValue(raw string) value { return fromResult(gjson.Parse(raw)) }

// typeError returns the unknown value for a known value of the wrong type.
func typeError(subject string, v value, problem string) value {
	return unknown(cmp.Or(subject, ".") + " is " + v.kind.noun() + ", and " + problem)
}

// fromResult returns the value that gjson found in a valid document.
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

// derivedFrom returns v with the evidence of all parts. The result is hidden if a part is hidden.
func (v value) derivedFrom(parts ...value) value {
	for i := range parts {
		v.hidden = v.hidden || parts[i].hidden
		v.evidence = v.evidence.and(parts[i].evidence)
	}
	return v
}

// isNull reports whether v is null or missing, which are equal.
func (v value) isNull() bool { return v.kind == kindNull || v.kind == kindMissing }

// isNothing reports whether v is null or missing, or rests on absence alone.
func (v value) isNothing() bool { return v.isNull() || v.isAbsent() }

// isEmpty reports whether v is unknown, missing, null, false, 0, or an empty text, list or object.
func (v value) isEmpty() bool {
	switch v.kind {
	case kindString:
		return v.str == ""
	case kindArray, kindObject:
		return strings.TrimSpace(v.raw[1:len(v.raw)-1]) == ""
	}
	return v.kind <= kindNull || v.raw == "false" || v.raw == "0"
}

// lack returns the end of a sentence that begins with the source of an absent value.
func (v value) lack() string {
	switch {
	case v.kind == kindNull:
		return " is null"
	case strings.Contains(v.missed, "#("):
		return " tests what no element has"
	}
	return " is missing"
}

// json returns the JSON text of a value, and "" for a missing value.
func (v value) json() string {
	if v.raw == "" && v.kind == kindString {
		return marshal(v.str)
	}
	return v.raw
}

// decoded returns the form of a known value that gojq reads, with numbers as they are written.
func (v value) decoded() (tree any) {
	decoder := json.NewDecoder(strings.NewReader(cmp.Or(v.json(), "null")))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		panic(err) // the text of a known value is valid
	}
	return tree
}

// marshal returns a value of gojq as JSON, in the form of jq. Invalid UTF-8 becomes U+FFFD.
func marshal(v any) string {
	b, _ := gojq.Marshal(v) // never fails
	return string(b)
}

// truth returns the value as a condition. Null, missing and false are false. All else is true, even 0 and
// []. A text that may be meant as false is unknown.
func (v value) truth() Tri {
	switch {
	case v.kind == kindUnknown || v.saysNo():
		return Unknown
	case v.isNull() || v.raw == "false":
		return False
	}
	return True
}

// saysNo reports whether v is a text that may be meant as false.
func (v value) saysNo() bool {
	return v.kind == kindString && (v.str == "" || isOneOf(strings.ToLower(v.str), " false no off 0 "))
}

// undecided returns the unknown value for a condition whose truth is unknown.
func (v value) undecided() value {
	if v.kind != kindUnknown {
		v.kind, v.detail = kindUnknown, v.preview()+" is a text"
	}
	return v
}

// previewSize is the number of characters of a value that are shown.
const previewSize = 60

// preview returns a value for an explanation, cut to one line.
func (v value) preview() string {
	switch {
	case v.hidden && v.kind > kindBool:
		return "not shown"
	case v.kind == kindString:
		return preview(v.str)
	case v.kind <= kindMissing:
		return v.kind.String()
	}
	start := words.Cut(cmp.Or(v.shown, v.raw), 4*previewSize) // before white space goes
	return words.OneLine(words.Shorten(strings.Join(strings.Fields(start), " "), previewSize))
}

// preview returns a text in quotes, cut, with unprintable characters escaped.
func preview(s string) string {
	shown := words.Cut(s, previewSize)
	if len(shown) < len(s) {
		return strconv.Quote(shown) + "..."
	}
	return strconv.Quote(shown)
}

// isOneOf reports whether a word is in a list of words. Each word of the list stands between spaces.
func isOneOf(word, list string) bool { return word != "" && strings.Contains(list, " "+word+" ") }

// A ground is the reason for an outcome. If an outcome needs two grounds, the higher ground counts: one path that
// led to a value is enough, as in .state == "done" and not .error.
type ground uint8

const (
	onNothing ground = iota // no path, as for a literal
	onAbsence               // a path that led nowhere
	onValue                 // a path that led to a value
	onLack                  // a query tested a member that no element has
)

// The evidence of a value is the ground of an outcome.
type evidence struct {
	ground   ground
	missed   string // the source of the path that led nowhere
	positive bool   // see [Result.Affirmed]; for an operand: a value of the response that is not empty
}

// isAbsent reports whether an outcome rests on nothing but absence. Such an outcome is unknown.
func (e evidence) isAbsent() bool { return e.ground == onAbsence || e.ground == onLack }

// and returns the evidence of an outcome that needs both grounds.
func (e evidence) and(other evidence) evidence {
	return e.choose(other, other.ground > e.ground, e.positive || other.positive)
}

// or returns the evidence of an outcome that needs only one of two grounds.
func (e evidence) or(other evidence) evidence {
	return e.choose(other, !other.isAbsent(), e.positive || other.positive)
}

// each returns the evidence of an outcome that needs two sufficient grounds. Each element of all and count needs
// a sufficient ground.
func (e evidence) each(other evidence) evidence {
	return e.choose(other, other.isAbsent(), e.positive && other.positive)
}

// choose returns one of two evidences.
func (e evidence) choose(other evidence, isOther, positive bool) evidence {
	if isOther {
		e = other
	}
	e.positive = positive
	return e
}
