package expr

import (
	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// maxResult is the largest value, in bytes, that a modifier may be applied to.
const maxResult = 64 << 20

// modify applies a modifier of gjson to a value that is not unknown.
func (e *evaluator) modify(p *syntax.Path, v value, h *syntax.Lookup) value {
	m := h.Modifier
	if v.kind == KindMissing || v.kind == KindNull && m.Name != "tostr" {
		return v
	}
	if code := modifierFault(m, v); code != faultNone {
		return pathFault(p, code, v.kind, h.Span)
	}
	raw := v.json()
	if len(raw) > maxResult || !e.grow(growth(m, v, raw)) {
		return pathFault(p, faultLarge, v.kind, h.Span)
	}
	e.made += len(raw)
	switch m.Name {
	case "this", "valid":
		return v
	case "tostr":
		return text(raw)
	case "fromstr":
		raw = v.str
	case "flatten":
		if v.kind == KindArray {
			raw = rawjson.Flatten(raw, gjson.Get(m.Arg, "deep").Bool())
		}
	default:
		path := "@" + m.Name
		if m.Arg != "" {
			path += ":" + m.Arg
		}
		raw = gjson.Get(raw, path).Raw
	}
	// Modifiers do not always make JSON: @join writes {"a":1,} .
	if !rawjson.Valid(raw) {
		return pathFault(p, faultJSON, v.kind, h.Span)
	}
	return parseValue(raw)
}

// modifierFault says why a modifier does not apply to a value.
func modifierFault(m *syntax.Modifier, v value) faultCode {
	switch {
	case m.Name == "fromstr" && v.kind != KindString:
		return faultText
	case (m.Name == "keys" || m.Name == "group") && v.kind != KindObject,
		m.Name == "values" && v.kind != KindObject && v.kind != KindArray,
		v.kind == kindLines:
		return faultObject
	}
	return faultNone
}

// growth is the number of bytes that a modifier adds to a value with the JSON text raw,
// for modifiers that can do so again and again.
func growth(m *syntax.Modifier, v value, raw string) int {
	n := 0
	switch {
	case v.kind == KindString && v.raw == "":
		n = len(raw) - len(v.str) // quotes and escapes
	case v.kind == KindObject && m.Name == "group":
		gjson.Parse(raw).ForEach(func(key, list gjson.Result) bool { // it writes the key for each element
			if list.IsArray() {
				n += count(fromResult(list)) * len(key.Raw+":{}")
			}
			return true
		})
	}
	return n
}
