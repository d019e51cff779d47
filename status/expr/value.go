package expr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A Tri is the outcome of a condition: true, false or unknown.
type Tri int8

// The three outcomes. Unknown stands for a runtime error in jq: text where a number is
// needed, a body that is not JSON. It never matches, and neither does its negation.
const (
	False Tri = iota
	True
	Unknown
)

// String returns "true", "false" or "unknown".
func (t Tri) String() string {
	names := [...]string{"false", "true", "unknown"}
	if t < 0 || int(t) >= len(names) {
		return fmt.Sprintf("Tri(%d)", int8(t))
	}
	return names[t]
}

// triOf is the Tri of a Go bool.
func triOf(b bool) Tri {
	if b {
		return True
	}
	return False
}

// not is Kleene's negation: unknown stays unknown.
func (t Tri) not() Tri { return [...]Tri{False: True, True: False, Unknown: Unknown}[t] }

// A Kind is the type of a value.
type Kind uint8

// The kinds of value.
const (
	KindUnknown Kind = iota // could not be read, see [Value.Reason]
	KindMissing             // not there
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject

	kindLines // the documents of JSON lines, which act as a list
)

// String returns jq's name of the kind if jq has one: "null", "boolean", "number",
// "string", "array", "object"; else "unknown" or "missing".
func (k Kind) String() string {
	names := [...]string{"unknown", "missing", "null", "boolean", "number", "string", "array", "object", "lines"}
	if int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return names[k]
}

// noun names a kind in a sentence: "a string".
func (k Kind) noun() string {
	return [...]string{
		"unknown", "missing", "null", "a boolean", "a number", "a string", "a list", "an object", "JSON lines",
	}[k]
}

// A Value is what an expression yields.
type Value struct {
	Kind   Kind
	Raw    string // JSON text; "" if there is no value
	Reason string // why the value is unknown or missing; otherwise ""

	text string
}

// Exists reports whether there is a value: it is neither missing nor unknown.
func (v Value) Exists() bool { return v.Kind > KindMissing }

// Text returns a string's characters as they are, and any other value as JSON.
func (v Value) Text() string {
	if v.Kind == KindString {
		return v.text
	}
	return v.Raw
}

// A value is what a part of an expression yields: a kind and text of the document,
// decoded only if necessary.
type value struct {
	kind   Kind
	hidden bool   // holds text of a header or of the environment, which is never shown
	cut    bool   // is only the end of a text
	raw    string // JSON text; may be "" for a string
	str    string // the characters of a string
	fault  *fault // why the value is unknown
	forms  *forms // nil for most
}

func missing() value { return value{kind: KindMissing} }

func boolean(b bool) value { return value{kind: KindBool, raw: strconv.FormatBool(b)} }

func number(text string) value { return value{kind: KindNumber, raw: text} }

func integer(n int) value { return number(strconv.Itoa(n)) }

func text(s string) value { return value{kind: KindString, str: s} }

// fromResult is the value that gjson found in a valid document.
func fromResult(r gjson.Result) value {
	switch r.Type {
	case gjson.True, gjson.False:
		return value{kind: KindBool, raw: r.Raw}
	case gjson.Number:
		return number(r.Raw)
	case gjson.String:
		return value{kind: KindString, raw: r.Raw, str: r.Str}
	case gjson.JSON:
		raw := r.Raw[rawjson.SkipSpace(r.Raw, 0):]
		if raw[0] == '{' {
			return value{kind: KindObject, raw: raw}
		}
		return value{kind: KindArray, raw: raw}
	}
	if r.Raw == "" {
		return missing()
	}
	return value{kind: KindNull, raw: "null"}
}

// parseValue reads a JSON text that is known to be valid.
func parseValue(raw string) value {
	return fromResult(gjson.Parse(strings.TrimRight(raw, " \t\r\n")))
}

// json is the JSON text of a value that exists.
func (v value) json() string {
	if v.raw == "" && v.kind == KindString {
		return rawjson.Quote(v.str)
	}
	return v.raw
}

// isNull reports whether v is null or missing, which are equal.
func (v value) isNull() bool { return v.kind == KindNull || v.kind == KindMissing }

// truth is the value as a condition: null, missing and false are false, unknown is
// unknown, and all else is true, even 0, "" and [].
func (v value) truth() Tri {
	switch v.kind {
	case KindUnknown:
		return Unknown
	case KindMissing, KindNull:
		return False
	case KindBool:
		return triOf(v.raw == "true")
	}
	return True
}

// preview shows a value in words, cut to a line.
func (v value) preview() string {
	switch {
	case v.hidden && v.kind > KindNull:
		return "not shown"
	case v.kind == KindString:
		return rawjson.Preview(v.str)
	case v.kind <= KindMissing:
		return v.kind.String()
	}
	return rawjson.PreviewJSON(v.raw)
}
