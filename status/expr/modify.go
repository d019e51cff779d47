package expr

import (
	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// maxResult is the largest value, in bytes, that a modifier may be applied to.
const maxResult = 64 << 20

// modify applies a modifier of gjson to a value that is not unknown.
func (e *evaluator) modify(v value, h *syntax.Lookup, src *syntax.Path) value {
	if v.kind == KindMissing {
		return v
	}
	if code, ok := modifierFits(h.Modifier, v); !ok {
		return pathFault(src, code, v.kind, h.Span)
	}
	if v.kind == KindNull && h.Modifier.Name != "tostr" {
		return v
	}
	raw := v.json()
	if len(raw) > maxResult || !e.grow(modifierGrowth(h.Modifier, v, raw)) {
		return pathFault(src, faultLarge, v.kind, h.Span)
	}
	switch h.Modifier.Name {
	case "fromstr":
		raw = v.str
	case "flatten":
		if v.kind == KindArray {
			raw = rawjson.Flatten(raw, gjson.Get(h.Modifier.Arg, "deep").Bool())
		}
	case "this", "valid":
		return v
	case "tostr":
		return text(raw)
	default:
		raw = gjson.Get(raw, modifierPath(h.Modifier)).Raw
	}
	// What a modifier makes is not always JSON: @join writes {"a":1,} .
	if !rawjson.Valid(raw) {
		return pathFault(src, faultJSON, v.kind, h.Span)
	}
	return parseValue(raw)
}

// growth is by how many bytes a modifier makes a value longer, whose JSON text is
// raw, where it may do so to a value that has grown before.
func modifierGrowth(m *syntax.Modifier, v value, raw string) int {
	switch {
	case v.kind == KindString && v.raw == "":
		return len(raw) - len(v.str) // quotes and escapes
	case v.kind == KindObject && m.Name == "group":
		return groupGrowth(raw)
	}
	return 0
}

// groupGrowth is for @group, which writes a key for each element of its list.
func groupGrowth(raw string) int {
	n := 0
	gjson.Parse(raw).ForEach(func(key, list gjson.Result) bool {
		if list.IsArray() {
			each(fromResult(list), func(int, string, gjson.Result) bool {
				n += len(key.Raw) + len(":{}")
				return true
			})
		}
		return true
	})
	return n
}

// path is the modifier as a gjson path.
func modifierPath(m *syntax.Modifier) string {
	if m.Arg == "" {
		return "@" + m.Name
	}
	return "@" + m.Name + ":" + m.Arg
}

// fits reports whether the modifier says anything about the value; if not, why.
func modifierFits(m *syntax.Modifier, v value) (faultCode, bool) {
	switch m.Name {
	case "keys", "group":
		return faultObject, v.kind == KindObject || v.isNull()
	case "values":
		return faultObject, v.kind == KindObject || v.kind == KindArray || v.isNull()
	case "fromstr":
		return faultText, v.kind == KindString || v.isNull()
	}
	if v.kind == kindLines {
		return faultObject, false
	}
	return 0, true
}
