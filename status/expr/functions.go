package expr

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// apply applies a function to a known value.
func (e *evaluator) apply(n *call, v value) value {
	e.tick(baseSteps + len(v.raw) + len(v.str))
	switch n.fn {
	case fnLength:
		return n.length(v)
	case fnType:
		if v.kind == KindMissing {
			return text(KindNull.String())
		}
		return text(v.kind.String())
	case fnNot:
		return boolean(v.truth() == False)
	case fnToString:
		return toString(v)
	case fnToNumber:
		return n.toNumber(v)
	case fnIn:
		v = v.prepared()
		return boolean(slices.ContainsFunc(n.args, func(arg value) bool { return e.equal(v, arg) }))
	case fnHas:
		return n.has(v)
	case fnContains:
		t, code := e.contains(v, n.args[0])
		return outcome(t, n.fault(code, v))
	}
	if v.kind != KindString {
		return unknown(n.fault(faultText, v))
	}
	return e.applyText(n, v.str)
}

// applyText applies a function that needs text.
func (e *evaluator) applyText(n *call, s string) value {
	switch n.fn {
	case fnDowncase:
		return text(mapASCII(s, 'A', 'Z'))
	case fnUpcase:
		return text(mapASCII(s, 'a', 'z'))
	case fnFromJSON:
		if !rawjson.Valid(s) {
			return unknown(n.fault(faultJSON, text(s)))
		}
		return parseValue(s)
	case fnTest:
		return boolean(e.match(n.pattern, s))
	case fnStartsWith:
		return boolean(strings.HasPrefix(s, n.args[0].str))
	case fnEndsWith:
		return boolean(strings.HasSuffix(s, n.args[0].str))
	}
	return unknown(fault{code: faultInternal})
}

// fault is why the function says nothing of a value.
func (n *call) fault(code faultCode, v value) fault {
	return newFault(code, v.kind, span{}, n.span)
}

// length counts characters, elements or keys; of a number it is the absolute
// value, as in jq.
func (n *call) length(v value) value {
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
	return unknown(n.fault(faultLength, v))
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

func (n *call) toNumber(v value) value {
	switch v.kind {
	case KindNumber:
		return v
	case KindString:
		if raw, ok := rawjson.NumberIn(v.str); ok {
			return number(raw)
		}
	}
	return unknown(n.fault(faultNumber, v))
}

// has asks for a key of an object or an index of a list; null has none.
func (n *call) has(v value) value {
	key := n.args[0]
	switch {
	case v.isNull():
		return boolean(false)
	case v.kind == KindObject && key.kind == KindString:
		return boolean(gjson.Get(v.raw, gjson.Escape(key.str)).Exists())
	case v.kind == KindArray && key.kind == KindNumber:
		return boolean(key.raw[0] != '-' && gjson.Get(v.raw, key.raw).Exists())
	}
	return unknown(n.fault(faultHas, v))
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
