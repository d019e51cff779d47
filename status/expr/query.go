package expr

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// matches reports whether the query holds for an element.
func queryMatches(q *syntax.Query, e *evaluator, src *syntax.Path, element gjson.Result) bool {
	e.tick(baseSteps)
	v := fromResult(element)
	if len(q.Lookups) > 0 {
		if element.Type != gjson.JSON {
			return false // also for ~: gjson does not look into scalars
		}
		if v = e.walk(src, v, q.Lookups); v.kind == KindUnknown {
			v = missing()
		}
	}
	if q.Tilde {
		return isTilde(q, v) == (q.Op == syntax.QueryEqual)
	}
	switch v.kind {
	case KindMissing:
		return false
	case KindString:
		return q.Op == syntax.QueryExists || compareQueryText(q, e, v.str)
	case KindNumber:
		return q.Op == syntax.QueryExists || compareQueryNumber(q, v.raw)
	case KindBool:
		return q.Op == syntax.QueryExists || compareQueryBool(q, v.raw)
	}
	return q.Op == syntax.QueryExists
}

// isTilde reports whether the value is what stands behind the tilde.
func isTilde(q *syntax.Query, v value) bool {
	switch q.Want {
	case "*":
		return v.kind != KindMissing
	case "null":
		return v.isNull()
	}
	truthy, falsy := gjsonTruth(v)
	if q.Want == "true" {
		return truthy
	}
	return falsy
}

// gjsonTruth tells what gjson takes for true and for false: numbers by whether
// they are 0, text by what it spells.
func gjsonTruth(v value) (truthy, falsy bool) {
	switch v.kind {
	case KindMissing, KindNull:
		return false, true
	case KindBool:
		return v.raw == "true", v.raw == "false"
	case KindNumber:
		n, _ := strconv.ParseFloat(v.raw, 64)
		return n != 0, n == 0
	case KindString:
		b, err := strconv.ParseBool(strings.ToLower(v.str))
		return err == nil && b, err == nil && !b
	}
	return false, false
}

func compareQueryText(q *syntax.Query, e *evaluator, have string) bool {
	switch q.Op {
	case syntax.QueryLike:
		return e.like(have, q.Want)
	case syntax.QueryNotLike:
		return !e.like(have, q.Want)
	}
	return orderFits(q, strings.Compare(have, q.Want))
}

// compareNumber compares with an operand that is a number, in quotes or not. Any
// other text is just unequal: gjson takes it for 0.
func compareQueryNumber(q *syntax.Query, raw string) bool {
	if !q.IsNumber {
		return q.Op == syntax.QueryNotEqual
	}
	have, _ := strconv.ParseFloat(raw, 64)
	switch {
	case have < q.Number:
		return orderFits(q, -1)
	case have > q.Number:
		return orderFits(q, 1)
	}
	return orderFits(q, 0)
}

// compareBool compares with true or false, in quotes or not; false is less.
func compareQueryBool(q *syntax.Query, raw string) bool {
	if q.Want != "true" && q.Want != "false" {
		return q.Op == syntax.QueryNotEqual
	}
	return orderFits(q, strings.Compare(raw, q.Want))
}

// ordered reports whether the operator holds for an order of -1, 0 or 1.
func orderFits(q *syntax.Query, order int) bool {
	switch q.Op {
	case syntax.QueryEqual:
		return order == 0
	case syntax.QueryNotEqual:
		return order != 0
	case syntax.QueryLess:
		return order < 0
	case syntax.QueryLessEqual:
		return order <= 0
	case syntax.QueryGreater:
		return order > 0
	case syntax.QueryGreaterEqual:
		return order >= 0
	}
	return false
}
