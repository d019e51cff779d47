package expr

import (
	"strings"

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
	t, code := e.outcome(n, left, right)
	v := outcome(t, fault{})
	v.hidden = left.hidden || right.hidden
	if t == Unknown {
		v.fault = comparisonFault(n, code, left, right)
	}
	return v
}

// fault is why a comparison of two known values is unknown.
func comparisonFault(n *syntax.Comparison, code faultCode, left, right value) fault {
	subject, got := n.Left.Where(), left.kind
	if n.Op == syntax.OpIn || code == faultText && left.kind == KindString {
		subject, got = n.Right.Where(), right.kind // it is the right side that does not fit
	}
	f := newFault(code, got, subject, n.OpSpan)
	f.want = right.kind
	return f
}

// outcome compares two known values.
func (e *evaluator) outcome(n *syntax.Comparison, a, b value) (Tri, faultCode) {
	switch n.Op {
	case syntax.OpEqual:
		return triOf(e.equal(a, b)), 0
	case syntax.OpNotEqual:
		return triOf(!e.equal(a, b)), 0
	case syntax.OpIn:
		if b.kind != KindArray {
			return Unknown, faultList
		}
		return triOf(e.hasMember(b, a)), 0
	case syntax.OpContains:
		return e.contains(a, b)
	case syntax.OpMatch, syntax.OpNotMatch:
		if a.kind != KindString {
			return Unknown, faultText
		}
		return triOf(e.match(n.Pattern, a.str) == (n.Op == syntax.OpMatch)), 0
	case syntax.OpStartsWith, syntax.OpEndsWith:
		return affix(n.Op == syntax.OpStartsWith, a, b)
	}
	e.tick(baseSteps + a.cost() + b.cost())
	return order(n.Op, a, b)
}

// order compares numbers with numbers and strings with strings.
func order(op syntax.CompareOp, a, b value) (Tri, faultCode) {
	var c int
	switch {
	case a.kind == KindNumber && b.kind == KindNumber:
		c = compareNumbers(a, b)
	case a.kind == KindString && b.kind == KindString:
		c = strings.Compare(a.str, b.str)
	default:
		return Unknown, faultOrder
	}
	switch op {
	case syntax.OpLess:
		return triOf(c < 0), 0
	case syntax.OpLessEqual:
		return triOf(c <= 0), 0
	case syntax.OpGreater:
		return triOf(c > 0), 0
	}
	return triOf(c >= 0), 0
}

// affix reports whether text begins, or ends, with other text.
func affix(start bool, a, b value) (Tri, faultCode) {
	if a.kind != KindString || b.kind != KindString {
		return Unknown, faultText
	}
	if start {
		return triOf(strings.HasPrefix(a.str, b.str)), 0
	}
	return triOf(strings.HasSuffix(a.str, b.str)), 0
}

// contains looks for a part of a text, or for a member of a list.
func (e *evaluator) contains(a, b value) (Tri, faultCode) {
	switch a.kind {
	case KindString:
		if b.kind != KindString {
			return Unknown, faultText
		}
		return triOf(e.hasPart(a, b.str)), 0
	case KindArray:
		return triOf(e.hasMember(a, b)), 0
	}
	return Unknown, faultMember
}

// equal reports whether two values are equal: null is missing, the types are
// the same, numbers are compared exactly, and the order of keys does not count.
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
	switch a.kind {
	case KindNumber:
		return compareNumbers(a, b) == 0
	case KindArray, KindObject:
		return a.raw == b.raw || e.canonical(a) == e.canonical(b)
	}
	return a.raw == b.raw
}
