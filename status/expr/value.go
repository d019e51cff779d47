package expr

import (
	"cmp"
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// A Tri is the outcome of a condition: true, false or unknown.
type Tri uint8

// The three outcomes. Unknown stands for a runtime error in jq, such as text where a number is
// needed, and for what is missing. It never matches, and neither does its negation.
const (
	False Tri = iota
	True
	Unknown
)

// String returns "true", "false" or "unknown".
func (t Tri) String() string { return [...]string{"false", "true", "unknown"}[t] }

// A Value is what an expression yields.
type Value struct {
	// Type is what jq calls it: "null", "boolean", "number", "string", "array" or "object";
	// or else "missing" or "unknown".
	Type   string
	Raw    string // JSON text; "" if there is no value
	Reason string // why the value is unknown or missing; otherwise ""

	text string
}

// Exists reports whether there is a value: it is neither missing nor unknown.
func (v Value) Exists() bool { return v.Raw != "" }

// Text returns a string's characters as they are, and any other value as JSON.
func (v Value) Text() string { return or(v.Type == "string", v.text, v.Raw) }

// A kind is the type of a value.
type kind uint8

const (
	kindUnknown kind = iota // could not be read
	kindMissing             // not there
	kindNull
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// String returns jq's name of the kind if jq has one.
func (k kind) String() string {
	return [...]string{"unknown", "missing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// noun names a kind in a sentence: "a string".
func (k kind) noun() string {
	return [...]string{"unknown", "missing", "null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// A value is what a part of an expression yields: a kind and text of the document,
// decoded only if necessary.
type value struct {
	kind   kind
	raw    string // JSON text; may be "" for a string
	str    string // the characters of a string
	shown  string // in place of raw in an explanation, "" for raw
	detail string // why it is unknown, or of how many elements it is a count

	hidden  bool   // it holds text of a header or of the environment, which is never shown
	partial string // "beginning", "middle" or "end" if the value is only that part of a text
	least   int    // the least that an unknown count is
	evidence
}

func missing() value              { return value{kind: kindMissing} }
func boolean(b bool) value        { return value{kind: kindBool, raw: strconv.FormatBool(b)} }
func number(text string) value    { return value{kind: kindNumber, raw: text} }
func integer(n int) value         { return number(strconv.Itoa(n)) }
func text(s string) value         { return value{kind: kindString, str: s} }
func unknown(why string) value    { return value{detail: words.OneLine(why)} }
func parseValue(raw string) value { return fromResult(gjson.Parse(raw)) }

// fromResult is the value that gjson found in a valid document.
func fromResult(r gjson.Result) value {
	if r.Raw == "" {
		return missing()
	}
	kinds := [...]kind{
		gjson.Null: kindNull, gjson.False: kindBool, gjson.True: kindBool, gjson.Number: kindNumber, gjson.String: kindString,
		gjson.JSON: or(r.IsObject(), kindObject, kindArray),
	}
	return value{kind: kinds[r.Type], raw: strings.TrimSpace(r.Raw), str: r.Str}
}

// of returns v as a value that was computed from these parts: it is as secret as they are, and its evidence is theirs.
func (v value) of(parts ...value) value {
	for i := range parts {
		v.hidden = v.hidden || parts[i].hidden
		v.evidence = v.evidence.both(parts[i].evidence)
	}
	return v
}

// isNull reports whether v is null or missing, which are equal.
func (v value) isNull() bool { return v.kind == kindNull || v.kind == kindMissing }

// isNothing reports whether nothing is known of v: it is null or missing, or rests on absence alone.
func (v value) isNothing() bool { return v.isNull() || v.isAbsent() }

// isEmpty reports whether v is unknown, missing, null, false, 0, or a text, a list or an object that is empty.
func (v value) isEmpty() bool {
	switch v.kind {
	case kindString:
		return v.str == ""
	case kindArray, kindObject:
		return strings.TrimSpace(v.raw[1:len(v.raw)-1]) == ""
	}
	return v.kind <= kindNull || v.raw == "false" || v.raw == "0"
}

// lack completes a sentence that begins with the source of such a value.
func (v value) lack() string {
	ofQuery := strings.Contains(v.missed, "#(")
	return or(v.kind == kindNull, " is null", or(ofQuery, " tests what no element has", " is missing"))
}

// json is the JSON text of a value that exists.
func (v value) json() string {
	if v.raw != "" || v.kind != kindString {
		return v.raw
	}
	return marshal(v.str)
}

// decoded is a value that is not unknown as gojq takes it, with numbers as they are written.
func (v value) decoded() (tree any) {
	decoder := json.NewDecoder(strings.NewReader(cmp.Or(v.json(), "null")))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		panic(err) // it was checked before
	}
	return tree
}

// marshal writes a value of gojq as JSON, as jq does. Invalid UTF-8 becomes U+FFFD.
func marshal(v any) string {
	b, _ := gojq.Marshal(v) // never fails
	return string(b)
}

// truth is the value as a condition: null, missing and false are false, and unknown is unknown. So
// is a text that says no: it may be meant as false. All else is true, even 0 and [].
func (v value) truth() Tri {
	if v.kind == kindUnknown || v.saysNo() {
		return Unknown
	}
	return or(!v.isNull() && v.raw != "false", True, False)
}

// undecided is a value as a condition whose truth is unknown.
func (v value) undecided() value {
	if v.kind != kindUnknown {
		v.kind, v.detail = kindUnknown, v.preview()+" is a text"
	}
	return v
}

// saysNo reports whether v is a text that says no, or nothing.
func (v value) saysNo() bool {
	return v.kind == kindString && (v.str == "" || isOneOf(strings.ToLower(v.str), " false no off 0 "))
}

// each calls yield for the elements of a list, or the values of an object, until it returns
// false, while there is time. Of equal keys of an object only the first counts.
func (e *evaluator) each(v value) iter.Seq2[string, value] {
	return func(yield func(key string, element value) bool) {
		seen := map[string]bool{}
		gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, element gjson.Result) bool {
			e.check(len(element.Raw))
			if v.kind == kindObject {
				if seen[key.Str] {
					return true
				}
				seen[key.Str] = true
			}
			found := fromResult(element)
			found.hidden = v.hidden
			return yield(key.Str, found)
		})
	}
}

// preview shows a value in words, cut to a line.
func (v value) preview() string {
	switch {
	case v.hidden && v.kind > kindBool:
		return "not shown"
	case v.kind == kindString:
		return preview(v.str)
	case v.kind <= kindMissing:
		return v.kind.String()
	}
	start := words.Cut(or(v.shown == "", v.raw, v.shown), 4*previewSize) // white space goes first
	return words.OneLine(words.Shorten(strings.Join(strings.Fields(start), " "), previewSize))
}

// previewSize is how many characters of a value are shown.
const previewSize = 60

// preview shows text in quotes, with unprintable characters escaped.
func preview(s string) string {
	shown := words.Cut(s, previewSize)
	return strconv.Quote(shown) + or(len(shown) < len(s), "...", "")
}

// Evidence is the ground of an outcome: whether a path led to something, and a path that led nowhere.
// The zero value is for a value without paths, such as a literal.
type evidence struct {
	found    bool   // a path led to something
	missed   string // the source of a path that led nowhere, "" for none
	lacks    bool   // a query tested a member that no element has, which outweighs found
	positive bool   // see [Result.Affirmed]; of an operand: a value of the response that is not empty
}

// isAbsent reports whether an outcome rests on nothing but absence. Nothing is known by that.
func (e evidence) isAbsent() bool { return e.lacks || e.missed != "" && !e.found }

// both returns the evidence of an outcome that needs both: one that found something is enough, as in
// .state == "done" and not .error.
func (e evidence) both(other evidence) evidence {
	worse := or(other.lacks && !e.lacks, other, e)
	return evidence{e.found || other.found, cmp.Or(worse.missed, e.missed, other.missed), worse.lacks, e.positive || other.positive}
}

// either returns the evidence of one of two outcomes. With each, both have to show something, and an outcome
// that rests on absence outweighs the other. Otherwise one is enough, and such an outcome gives way.
func (e evidence) either(other evidence, each bool) evidence {
	one := or(other.isAbsent() == each, other, e)
	one.positive = e.positive && other.positive || !each && (e.positive || other.positive)
	return one
}
