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

// The reasons why an operator or a function cannot be applied to a value. A message contains the name of the
// operator or function, followed by the reason.
const (
	needsValue = "needs a value"
	needsText  = "needs text"
	needsOrder = "needs two numbers, or two texts"
	needsAlike = "needs values of the same type"
)

// needsAll returns the reason why an operator cannot be applied to an incomplete string. lost states which ends of
// the string have been lost.
func needsAll(lost cut) string {
	return "needs the whole text, but poll keeps only the " + lost.kept()
}

// compareValues reports whether the comparison n is true for the known values a and b. If problem is not "", it
// states why the result is unknown.
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
	isOpen := at != nil && (a.lost.start && at[0] == 0 || a.lost.end && at[1] == len(a.str)) // the match may extend into the lost part
	return (at != nil && !isOpen) == (sign == "=~"), ""
}

// shows reports whether a comparison that is true for the kept part of v is certainly true for the complete string,
// too. sign is the operator.
func (v value) shows(sign string) bool {
	return sign == "contains" || sign == "=~" || sign == "endswith" && !v.lost.end || sign == "startswith" && !v.lost.start
}

// isOrdered reports whether the operator sign (<, <=, > or >=) is true for two values whose order, as returned by
// cmp.Compare, is order.
func isOrdered(sign string, order int) bool {
	return order == 0 && len(sign) == 2 || order < 0 && sign[0] == '<' || order > 0 && sign[0] == '>'
}

// find returns the start and the end of the first match of pattern in s, or nil if there is no match. During a
// search of a long string, find checks whether the evaluation must be abandoned.
func (e *evaluator) find(pattern *regexp.Regexp, s string) []int {
	const long = 1 << 20 // the length in bytes from which a search can be abandoned
	if len(s) < long {
		return pattern.FindStringIndex(s)
	}
	return pattern.FindReaderIndex(&checkedText{strings.NewReader(s), e})
}

// A checkedText reads a string, and abandons the evaluation if its context is done.
type checkedText struct {
	*strings.Reader
	*evaluator
}

// ReadRune reads a character. It panics if the context of the evaluation is done.
func (t *checkedText) ReadRune() (rune, int, error) {
	t.check(0)
	return t.Reader.ReadRune()
}

// has reports whether list contains an element that equals v. If list contains only values whose types differ from
// that of v, the result is unknown, and problem is needsAlike.
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

// areAlike reports whether a and b can be compared: they have the same type, or at least one of them is null or
// missing. A comparison with null tests whether a value exists.
func areAlike(a, b value) bool { return a.kind == b.kind || a.isNull() || b.isNull() }

// equal reports whether two values are equal. Null equals a missing value. Values of different types are never
// equal. Numbers are compared exactly. The order of the members of an object does not matter.
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

// compareNumbers returns -1, 0 or 1, the order of two JSON numbers. Numbers that are equal as float64 values are
// compared exactly, up to about 150 digits. Longer numbers are compared as strings, because their exact order does
// not matter in practice.
func compareNumbers(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	if order := cmp.Compare(x, y); order != 0 || a == b {
		return order
	}
	const precision, most = 512, 800 // in bits, and in digits; the limit exists because the time of ParseFloat grows with the square of the number of digits
	if len(a) < most && len(b) < most {
		p, _, err := big.ParseFloat(a, 10, precision, big.ToNearestEven)
		q, _, wrong := big.ParseFloat(b, 10, precision, big.ToNearestEven)
		if err == nil && wrong == nil && !p.IsInf() {
			return p.Cmp(q)
		}
	}
	return strings.Compare(a, b)
}
