package expr

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// apply applies a function to a known value.
func (e *evaluator) apply(n *syntax.Call, v value) value {
	e.tick(baseSteps + len(v.raw) + len(v.str))
	switch n.Function {
	case syntax.FuncLength:
		return lengthOf(n, v)
	case syntax.FuncType:
		if v.kind == KindMissing {
			return text(KindNull.String())
		}
		return text(v.kind.String())
	case syntax.FuncNot:
		return boolean(v.truth() == False)
	case syntax.FuncToString:
		return toString(v)
	case syntax.FuncToNumber:
		return toNumber(n, v)
	case syntax.FuncIn:
		v = v.prepared()
		return boolean(slices.ContainsFunc(n.Args, func(arg syntax.Constant) bool { return e.equal(v, constantValue(&arg)) }))
	case syntax.FuncHas:
		return hasKey(n, v)
	case syntax.FuncContains:
		t, code := e.contains(v, constantValue(&n.Args[0]))
		return outcome(t, callFault(n, code, v))
	}
	if v.kind != KindString {
		return unknown(callFault(n, faultText, v))
	}
	return e.applyText(n, v.str)
}

// applyText applies a function that needs text.
func (e *evaluator) applyText(n *syntax.Call, s string) value {
	switch n.Function {
	case syntax.FuncDowncase:
		return text(mapASCII(s, 'A', 'Z'))
	case syntax.FuncUpcase:
		return text(mapASCII(s, 'a', 'z'))
	case syntax.FuncFromJSON:
		if !rawjson.Valid(s) {
			return unknown(callFault(n, faultJSON, text(s)))
		}
		return parseValue(s)
	case syntax.FuncTest:
		return boolean(e.match(n.Pattern, s))
	case syntax.FuncStartsWith:
		return boolean(strings.HasPrefix(s, n.Args[0].Text))
	case syntax.FuncEndsWith:
		return boolean(strings.HasSuffix(s, n.Args[0].Text))
	}
	return unknown(fault{code: faultInternal})
}

// fault is why the function says nothing of a value.
func callFault(n *syntax.Call, code faultCode, v value) fault {
	return newFault(code, v.kind, syntax.Span{}, n.Span)
}

// length counts characters, elements or keys; of a number it is the absolute
// value, as in jq.
func lengthOf(n *syntax.Call, v value) value {
	switch v.kind {
	case KindMissing, KindNull:
		return number("0")
	case KindString:
		return number(strconv.Itoa(utf8.RuneCountInString(v.str)))
	case KindNumber:
		return number(strings.TrimPrefix(v.raw, "-"))
	case KindArray, KindObject:
		count := 0
		each(v, func(int, string, gjson.Result) bool { count++; return true })
		return number(strconv.Itoa(count))
	}
	return unknown(callFault(n, faultLength, v))
}

func toString(v value) value {
	switch v.kind {
	case KindMissing, KindNull:
		return text("null")
	case KindString:
		return text(v.str)
	}
	return text(rawjson.Compact(v.raw))
}

func toNumber(n *syntax.Call, v value) value {
	switch v.kind {
	case KindNumber:
		return v
	case KindString:
		if raw, ok := rawjson.NumberIn(v.str); ok {
			return number(raw)
		}
	}
	return unknown(callFault(n, faultNumber, v))
}

// has asks for a key of an object or an index of a list; null has none.
func hasKey(n *syntax.Call, v value) value {
	key := n.Args[0]
	switch {
	case v.isNull():
		return boolean(false)
	case v.kind == KindObject && key.Kind == syntax.String:
		return boolean(gjson.Get(v.raw, gjson.Escape(key.Text)).Exists())
	case v.kind == KindArray && key.Kind == syntax.Number:
		return boolean(key.Raw[0] != '-' && gjson.Get(v.raw, key.Raw).Exists())
	}
	return unknown(callFault(n, faultHas, v))
}

// mapASCII switches the case of the letters from low to high.
func mapASCII(s string, low, high byte) string {
	b := []byte(s)
	for i, c := range b {
		if low <= c && c <= high {
			b[i] = c ^ 0x20
		}
	}
	return string(b)
}
