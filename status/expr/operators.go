package expr

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// compare evaluates a comparison.
func (e *evaluator) compare(n *syntax.Comparison) value {
	left := e.value(n.Left)
	if left.kind == KindUnknown {
		return left
	}
	right := e.value(n.Right)
	if right.kind == KindUnknown {
		return right
	}
	t, code := e.compareValues(n, left, right)
	if t == Unknown {
		f, _, _ := misfit(n, code, left, right)
		return unknown(f)
	}
	v := boolean(t == True)
	v.hidden = left.hidden || right.hidden
	return v
}

// misfit returns why a comparison of two known values is unknown, and the side that does
// not fit.
func misfit(n *syntax.Comparison, code faultCode, left, right value) (fault, syntax.Node, value) {
	side, v, other := n.Left, left, right
	_, constant := syntax.LiteralOf(n.Left)
	if right, ok := syntax.LiteralOf(n.Right); ok && right.Secret { // text, but perhaps of a number
		constant = true
	}
	if n.Op == syntax.OpIn || code == faultText && left.kind == KindString || code == faultOrder && constant {
		side, v, other = n.Right, right, left
	}
	return fault{code: code, got: v.kind, want: other.kind, subject: side.Where(), use: n.OpSpan}, side, v
}

// compareValues compares two known values. What is not found in the end of a text may be in
// the rest of it.
func (e *evaluator) compareValues(n *syntax.Comparison, a, b value) (Tri, faultCode) {
	t, code := e.compareKept(n, a, b)
	if a.cut && n.Op != syntax.OpEqual && n.Op != syntax.OpNotEqual && t == triOf(n.Op == syntax.OpNotMatch) {
		return Unknown, faultCut
	}
	return t, code
}

// compareKept compares two known values as far as they are kept.
func (e *evaluator) compareKept(n *syntax.Comparison, a, b value) (Tri, faultCode) {
	switch n.Op {
	case syntax.OpEqual:
		return triOf(e.equal(a, b)), faultNone
	case syntax.OpNotEqual:
		return triOf(!e.equal(a, b)), faultNone
	case syntax.OpIn:
		if b.kind != KindArray {
			return Unknown, faultIn
		}
		return triOf(e.hasMember(b, a)), faultNone
	case syntax.OpContains:
		return e.contains(a, b)
	case syntax.OpMatch, syntax.OpNotMatch:
		if a.kind != KindString {
			return Unknown, faultText
		}
		return triOf(e.match(n.Pattern, a.str) == (n.Op == syntax.OpMatch)), faultNone
	case syntax.OpStartsWith, syntax.OpEndsWith:
		if a.kind != KindString || b.kind != KindString {
			return Unknown, faultText
		}
		if n.Op == syntax.OpStartsWith {
			return triOf(strings.HasPrefix(a.str, b.str)), faultNone
		}
		return triOf(strings.HasSuffix(a.str, b.str)), faultNone
	}
	e.tick(baseSteps + a.cost() + b.cost())
	switch {
	case a.kind == KindNumber && b.kind == KindNumber:
		return triOf(ordered(n.Op, compareNumbers(a, b))), faultNone
	case a.kind == KindString && b.kind == KindString:
		return triOf(ordered(n.Op, strings.Compare(a.str, b.str))), faultNone
	}
	return Unknown, faultOrder
}

// ordered reports whether an operator holds for an order of -1, 0 or 1.
func ordered(op syntax.CompareOp, order int) bool {
	switch op {
	case syntax.OpEqual:
		return order == 0
	case syntax.OpNotEqual:
		return order != 0
	case syntax.OpLess:
		return order < 0
	case syntax.OpLessEqual:
		return order <= 0
	case syntax.OpGreater:
		return order > 0
	case syntax.OpGreaterEqual:
		return order >= 0
	}
	return false
}

// equal reports whether two values are equal. Null equals missing, types must be the
// same, numbers are compared exactly, and the order of keys does not count.
func (e *evaluator) equal(a, b value) bool {
	e.tick(baseSteps)
	if a.isNull() || b.isNull() {
		return a.isNull() && b.isNull()
	}
	if a.kind != b.kind {
		return false
	}
	if a.kind == KindString {
		e.tick(min(len(a.str), len(b.str)))
		return a.str == b.str
	}
	e.tick(a.cost() + b.cost())
	switch {
	case a.raw == b.raw:
		return true
	case a.kind == KindNumber:
		return compareNumbers(a, b) == 0
	case a.kind == KindArray || a.kind == KindObject:
		x, y := e.canonical(a), e.canonical(b)
		e.tick(min(len(x), len(y)))
		return x == y
	}
	return false
}

// contains looks for a part of a text, or for a member of a list.
func (e *evaluator) contains(a, b value) (Tri, faultCode) {
	switch {
	case a.kind == KindArray:
		return triOf(e.hasMember(a, b)), faultNone
	case a.kind != KindString:
		return Unknown, faultContains
	case b.kind != KindString:
		return Unknown, faultText
	}
	return triOf(e.hasPart(a, b.str)), faultNone
}

// call applies a function to "." or to its path.
func (e *evaluator) call(n *syntax.Call) value {
	switch n.Function {
	case syntax.FuncAny, syntax.FuncAll, syntax.FuncCount:
		return e.tally(n, nil).value(n)
	case syntax.FuncExists:
		return e.exists(n)
	}
	v := e.current()
	if v.kind == KindUnknown {
		return v
	}
	e.tick(baseSteps + len(v.raw) + len(v.str))
	result, code := e.apply(n, v)
	if result.cut = v.cut && result.kind == KindString; v.cut && !result.cut && result.raw != "true" {
		code = cmp.Or(code, faultCut)
	}
	if code != faultNone {
		return unknown(fault{code: code, got: v.kind, subject: e.scope.subject, use: n.Span})
	}
	e.made += len(result.raw) + len(result.str)
	result.hidden = v.hidden
	return result
}

// exists tells null from missing. What cannot be read because of a wrong type does not
// exist; without a readable document the result is unknown.
func (e *evaluator) exists(n *syntax.Call) value {
	v := e.value(n.Path)
	if v.kind == KindUnknown && v.fault.code == faultDocument {
		return v
	}
	return boolean(v.kind > KindMissing)
}

// apply applies a function to a known value.
func (e *evaluator) apply(n *syntax.Call, v value) (value, faultCode) {
	switch n.Function {
	case syntax.FuncLength:
		return length(v)
	case syntax.FuncType:
		if v.kind == KindMissing {
			return text(KindNull.String()), faultNone
		}
		return text(v.kind.String()), faultNone
	case syntax.FuncNot:
		return boolean(v.truth() == False), faultNone
	case syntax.FuncToString:
		return toString(v), faultNone
	case syntax.FuncToNumber:
		return toNumber(v)
	case syntax.FuncIn:
		v = v.reusable()
		found := slices.ContainsFunc(n.Args, func(arg syntax.Constant) bool { return e.equal(v, constantValue(&arg)) })
		return boolean(found), faultNone
	case syntax.FuncHas:
		return has(v, &n.Args[0])
	case syntax.FuncContains:
		t, code := e.contains(v, constantValue(&n.Args[0]))
		return boolean(t == True), code
	}
	if v.kind != KindString {
		return value{}, faultText
	}
	return e.applyToText(n, v.str)
}

// applyToText applies a function that needs text.
func (e *evaluator) applyToText(n *syntax.Call, s string) (value, faultCode) {
	switch n.Function {
	case syntax.FuncDowncase:
		return text(switchCase(s, 'A', 'Z')), faultNone
	case syntax.FuncUpcase:
		return text(switchCase(s, 'a', 'z')), faultNone
	case syntax.FuncFromJSON:
		if !rawjson.Valid(s) {
			return value{}, faultJSON
		}
		return parseValue(s), faultNone
	case syntax.FuncTest:
		return boolean(e.match(n.Pattern, s)), faultNone
	case syntax.FuncStartsWith:
		return boolean(strings.HasPrefix(s, n.Args[0].Text)), faultNone
	case syntax.FuncEndsWith:
		return boolean(strings.HasSuffix(s, n.Args[0].Text)), faultNone
	}
	return value{}, faultInternal
}

// length counts characters, elements or keys; as in jq, that of a number is its absolute
// value.
func length(v value) (value, faultCode) {
	switch v.kind {
	case KindMissing, KindNull:
		return integer(0), faultNone
	case KindString:
		return integer(utf8.RuneCountInString(v.str)), faultNone
	case KindNumber:
		return number(strings.TrimPrefix(v.raw, "-")), faultNone
	case KindArray, KindObject:
		return integer(count(v)), faultNone
	}
	return value{}, faultLength
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

func toNumber(v value) (value, faultCode) {
	switch v.kind {
	case KindNumber:
		return v, faultNone
	case KindString:
		if raw, ok := rawjson.NumberIn(v.str); ok {
			return number(raw), faultNone
		}
	}
	return value{}, faultNumber
}

// has asks for a key of an object or an index of a list; null has none.
func has(v value, key *syntax.Constant) (value, faultCode) {
	switch {
	case v.isNull():
		return boolean(false), faultNone
	case v.kind == KindObject && key.Kind == syntax.String:
		return boolean(gjson.Get(v.raw, gjson.Escape(key.Text)).Exists()), faultNone
	case v.kind == KindArray && key.Kind == syntax.Number:
		return boolean(key.Raw[0] != '-' && gjson.Get(v.raw, key.Raw).Exists()), faultNone
	}
	return value{}, faultHas
}

// switchCase switches the case of the ASCII letters from low to high.
func switchCase(s string, low, high byte) string {
	b := []byte(s)
	for i, c := range b {
		if low <= c && c <= high {
			b[i] = c ^ 0x20
		}
	}
	return string(b)
}
