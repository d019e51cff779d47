package expr

import (
	"cmp"
	"iter"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// The operators. Those that compare by a sign stand in pairs, each with its negation.
const (
	comparingSigns = " == != < >= > <= =~ !~ "
	comparingWords = " in contains startswith endswith "
)

var operator = words.Pattern(`^(?:[=!]=|[<>]=?|[=!]~|&&|\|\|?|//|[!();,])`)

// opposite returns the negation of an operator that compares, "" for another operator.
func opposite(sign string) string {
	signs := strings.Fields(comparingSigns)
	if i := slices.Index(signs, sign); i >= 0 {
		return signs[i^1]
	}
	return or(isOneOf(sign, comparingWords), "not "+sign, "")
}

func isOrder(sign string) bool { return sign[0] == '<' || sign[0] == '>' }

// Why values cannot be used, behind the name of what uses them.
const (
	needsValue = "needs a value"
	needsText  = "needs text"
	needsOrder = "needs two numbers, or two texts"
	needsAlike = "needs values of the same type"
)

func onlyKept(part string) string {
	return "needs more than the " + part + ", which is all that is kept"
}

// compareValues returns whether a comparison of two known values holds. Unless that can be said,
// problem says why not.
func (e *evaluator) compareValues(n *node, a, b value) (holds bool, problem string) {
	switch sign := n.sign; {
	case sign == "==" || sign == "!=":
		return e.equal(a, b) == (sign == "=="), or(areAlike(a, b), "", needsAlike)
	case isOrder(sign) && a.kind == kindNumber && b.kind == kindNumber:
		return ordered(sign, compareNumbers(a.raw, b.raw)), ""
	case isOrder(sign) && a.kind == kindString && b.kind == kindString:
		return ordered(sign, strings.Compare(a.str, b.str)), ""
	case isOrder(sign):
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
	case sign == "=~" || sign == "!~":
		at := e.find(n.pattern, a.str)
		lacksStart, lacksEnd := isOneOf(a.partial, " middle end "), isOneOf(a.partial, " beginning middle ")
		isOpen := at != nil && (lacksStart && at[0] == 0 || lacksEnd && at[1] == len(a.str))
		return (at != nil && !isOpen) == (sign == "=~"), "" // the part that is not kept may belong to it
	case sign == "startswith":
		return strings.HasPrefix(a.str, b.str), ""
	case sign == "endswith":
		return strings.HasSuffix(a.str, b.str), ""
	}
	return strings.Contains(a.str, b.str), ""
}

// find returns where a pattern matches. In a long text that is checked like a long evaluation.
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

// ordered reports whether <, <=, > or >= holds for an order of -1, 0 or 1.
func ordered(sign string, order int) bool {
	return order == 0 && len(sign) == 2 || order < 0 && sign[0] == '<' || order > 0 && sign[0] == '>'
}

// has reports whether a list has an element. If the list has values, and all are of other types, problem is
// needsAlike.
func (e *evaluator) has(list, v value) (is bool, problem string) {
	isAlike, isOther := false, false
	for _, element := range e.each(list) {
		if e.equal(element, v) {
			return true, ""
		}
		isAlike, isOther = isAlike || areAlike(element, v) && !element.isNull(), isOther || !areAlike(element, v)
	}
	return false, or(isOther && !isAlike, needsAlike, "")
}

// areAlike reports whether two values are of the same type, or one is null or missing: a comparison with
// null tests whether there is a value.
func areAlike(a, b value) bool { return a.kind == b.kind || a.isNull() || b.isNull() }

// equal reports whether two values are equal. Null equals missing, types must be the
// same, numbers are compared exactly, and the order of keys does not count.
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

// compareNumbers orders two JSON numbers: exactly where float64 does not tell them apart, up to
// 150 digits.
func compareNumbers(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	if order := cmp.Compare(x, y); order != 0 || a == b {
		return order
	}
	const precision = 512 // bits
	p, _, err := big.ParseFloat(shorten(a), 10, precision, big.ToNearestEven)
	q, _, wrong := big.ParseFloat(shorten(b), 10, precision, big.ToNearestEven)
	if err != nil || wrong != nil || p.IsInf() && q.IsInf() {
		return strings.Compare(a, b) // too large to mean anything
	}
	return p.Cmp(q)
}

// shorten returns a JSON number with at most 400 digits before and after the point: more digits
// than compareNumbers compares. The time of big.ParseFloat grows with the square of the digits,
// and a response may have millions of digits. It returns "" if the exponent is not an int.
func shorten(number string) string {
	const most = 400
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil {
		return ""
	}
	power += max(0, len(whole)-most)
	return whole[:min(len(whole), most)] + "." + fraction[:min(len(fraction), most)] + "e" + strconv.Itoa(power)
}
