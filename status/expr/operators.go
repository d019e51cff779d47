package expr

import (
	"cmp"
	"iter"
	"maps"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// The reasons why a value cannot be used, after the name of an operator or a function.
const (
	needsValue = "needs a value"
	needsText  = "needs text"
	needsOrder = "needs two numbers, or two texts"
	needsAlike = "needs values of the same type"
)

// needsAll returns the reason why a part of a text cannot be used.
func needsAll(lost cut) string {
	return "needs more than the " + lost.kept() + ", which is all that is kept"
}

// compareValues reports whether a comparison of two known values holds. If that is unknown, problem is the
// reason.
func (e *evaluator) compareValues(n *node, a, b value) (holds bool, problem string) {
	sign := n.sign
	isOrder := sign[0] == '<' || sign[0] == '>'
	switch {
	case sign == "==" || sign == "!=":
		if holds = e.equal(a, b) == (sign == "=="); !areAlike(a, b) {
			problem = needsAlike
		}
		return holds, problem
	case isOrder && a.kind == kindNumber && b.kind == kindNumber:
		return isOrdered(sign, compareNumbers(a.raw, b.raw)), ""
	case isOrder && a.kind == kindString && b.kind == kindString:
		return isOrdered(sign, strings.Compare(a.str, b.str)), ""
	case isOrder:
		return false, needsOrder
	case sign == "in" && b.kind != kindArray:
		return false, "needs a list"
	case sign == "in":
		return e.has(b, a)
	case sign == "contains" && a.kind == kindArray:
		return e.has(a, b)
	case sign == "contains" && a.kind != kindString:
		return false, "needs text or a list"
	case a.kind != kindString || b.kind != kindString:
		return false, needsText
	case sign == "contains":
		return strings.Contains(a.str, b.str), ""
	case sign == "startswith":
		return strings.HasPrefix(a.str, b.str), ""
	case sign == "endswith":
		return strings.HasSuffix(a.str, b.str), ""
	}
	at := e.find(n.pattern, a.str)
	isOpen := at != nil && (a.lost.start && at[0] == 0 || a.lost.end && at[1] == len(a.str)) // the lost part may belong to the match
	return (at != nil && !isOpen) == (sign == "=~"), ""
}

// shows reports whether a comparison that holds for the kept part of a text holds for the whole text.
func (v value) shows(sign string) bool {
	return sign == "contains" || sign == "=~" || sign == "endswith" && !v.lost.end || sign == "startswith" && !v.lost.start
}

// isOrdered reports whether <, <=, > or >= holds for an order of -1, 0 or 1.
func isOrdered(sign string, order int) bool {
	return order == 0 && len(sign) == 2 || order < 0 && sign[0] == '<' || order > 0 && sign[0] == '>'
}

// find returns where a pattern matches. A match of a long text is abandoned like a long evaluation.
func (e *evaluator) find(pattern *regexp.Regexp, s string) []int {
	const long = 1 << 20
	if len(s) < long {
		return pattern.FindStringIndex(s)
	}
	return pattern.FindReaderIndex(&checkedText{strings.NewReader(s), e})
}

// A checkedText is a text that is read only while there is time for the evaluation.
type checkedText struct {
	*strings.Reader
	*evaluator
}

func (t *checkedText) ReadRune() (rune, int, error) {
	t.check(0)
	return t.Reader.ReadRune()
}

// has reports whether a list has an element. If the list only has values of other types, problem is needsAlike.
func (e *evaluator) has(list, v value) (is bool, problem string) {
	hasAlike, hasOther := false, false
	for _, element := range e.each(list) {
		if e.equal(element, v) {
			return true, ""
		}
		isAlike := areAlike(element, v)
		hasAlike, hasOther = hasAlike || isAlike && !element.isNull(), hasOther || !isAlike
	}
	if hasOther && !hasAlike {
		problem = needsAlike
	}
	return false, problem
}

// areAlike reports whether two values can be compared. They have the same type, or a value is null or missing: a
// comparison with null tests whether there is a value.
func areAlike(a, b value) bool { return a.kind == b.kind || a.isNull() || b.isNull() }

// equal reports whether two values are equal. Null equals missing. Values of different types are not equal.
// Numbers are compared exactly, and the order of keys does not count.
func (e *evaluator) equal(a, b value) bool {
	e.check(len(a.raw))
	switch {
	case a.isNull() || b.isNull():
		return a.isNull() && b.isNull()
	case a.kind != b.kind:
		return false
	case a.kind == kindString:
		return a.str == b.str
	case a.kind == kindNumber:
		return compareNumbers(a.raw, b.raw) == 0
	case a.raw == b.raw || a.kind == kindBool:
		return a.raw == b.raw
	case a.kind == kindObject:
		return maps.EqualFunc(maps.Collect(e.each(a)), maps.Collect(e.each(b)), e.equal)
	}
	next, stop := iter.Pull2(e.each(b))
	defer stop()
	for _, element := range e.each(a) {
		if _, other, more := next(); !more || !e.equal(element, other) {
			return false
		}
	}
	_, _, more := next()
	return !more
}

// compareNumbers returns the order of two JSON numbers. If float64 does not distinguish the numbers, the
// comparison is exact for up to 150 digits, and a comparison of texts beyond the numbers that have a meaning.
func compareNumbers(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	if order := cmp.Compare(x, y); order != 0 || a == b {
		return order
	}
	const precision, most = 512, 800 // bits, and digits: the time of ParseFloat grows with the square of the digits
	if len(a) < most && len(b) < most {
		p, _, err := big.ParseFloat(a, 10, precision, big.ToNearestEven)
		q, _, wrong := big.ParseFloat(b, 10, precision, big.ToNearestEven)
		if err == nil && wrong == nil && !p.IsInf() {
			return p.Cmp(q)
		}
	}
	return strings.Compare(a, b)
}
