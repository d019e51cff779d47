package expr

import (
	"index/suffixarray"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// maxReused bounds, in bytes, the kept values that are not part of the answer, and their
// indexes. Beyond it, values are made each time they are needed.
const maxReused = 2 * maxResult

// hoisted evaluates a node that does not depend on the element of a list, once for
// all elements.
func (e *evaluator) hoisted(n *syntax.Hoisted) value {
	if e.values == nil {
		e.values = make([]*value, e.expr.program.Slots)
	}
	if v := e.values[n.Slot]; v != nil {
		e.tick(baseSteps)
		return *v
	}
	before := e.made
	v := e.value(n.Node)
	v.forms = &forms{}
	if e.reused += min(e.made-before, len(v.raw)+len(v.str)); e.reused <= maxReused {
		e.values[n.Slot] = &v
	}
	return v
}

// forms are prepared forms of a value that is compared again and again, so that a
// comparison takes time by the size of the other value only. Each is made when first
// needed.
type forms struct {
	number    *rawjson.Number
	canonical string             // see [rawjson.Canonical]
	searches  int                // of the whole value, before there was an index
	members   map[string]bool    // the canonical texts of a list's elements
	parts     *suffixarray.Index // of a text
}

// reusable is a value that will be compared again and again.
func (v value) reusable() value {
	if v.forms == nil && (v.kind == KindNumber || v.kind == KindArray || v.kind == KindObject) && !rawjson.IsShort(v.raw) {
		v.forms = &forms{}
	}
	return v
}

// cost is the steps of comparing a value with another: its size, unless it is reusable.
func (v value) cost() int {
	if v.forms != nil {
		return 0
	}
	return len(v.raw) + len(v.str)
}

// compareNumbers orders two numbers by their exact values.
func compareNumbers(a, b value) int {
	if a.forms == nil && b.forms == nil {
		return rawjson.CompareNumbers(a.raw, b.raw)
	}
	return a.number().Compare(b.number())
}

// number is the value as a parsed number.
func (v value) number() rawjson.Number {
	if v.forms != nil && v.forms.number != nil {
		return *v.forms.number
	}
	n := rawjson.ParseNumber(v.raw)
	if v.forms != nil {
		v.forms.number = &n
	}
	return n
}

// canonical is a text that is the same for equal values only.
func (e *evaluator) canonical(v value) string {
	switch {
	case v.isNull():
		return "null"
	case v.kind == KindString:
		return rawjson.CanonicalText(v.str)
	case v.forms == nil:
		return rawjson.Canonical(v.raw)
	}
	if v.forms.canonical == "" {
		e.tick(len(v.raw))
		v.forms.canonical = rawjson.Canonical(v.raw)
	}
	return v.forms.canonical
}

// indexes counts a search through a whole value, and reports whether there have been so
// many that an index of up to size bytes pays.
func (e *evaluator) indexes(v value, size int) bool {
	const worthIt = 8
	e.tick(len(v.raw) + len(v.str))
	if v.forms == nil {
		return false
	}
	v.forms.searches++
	if v.forms.searches <= worthIt || e.reused+size > maxReused {
		return false
	}
	e.reused += size
	e.tick(len(v.raw) + len(v.str))
	return true
}

// hasPart reports whether part is in the text.
func (e *evaluator) hasPart(v value, part string) bool {
	if len(part) > len(v.str) {
		return false
	}
	e.tick(len(part))
	if v.forms == nil || v.forms.parts == nil {
		const perByte = 4
		if !e.indexes(v, perByte*len(v.str)) {
			return strings.Contains(v.str, part)
		}
		v.forms.parts = suffixarray.New([]byte(v.str))
	}
	return part == "" || len(v.forms.parts.Lookup([]byte(part), 1)) > 0
}

// hasMember reports whether an element of the list equals v.
func (e *evaluator) hasMember(list, v value) bool {
	e.tick(baseSteps + v.cost())
	if list.forms == nil || list.forms.members == nil {
		if !e.indexes(list, len(list.raw)) {
			return e.findMember(list, v.reusable())
		}
		list.forms.members = map[string]bool{}
		each(list, func(_ int, _ string, element gjson.Result) bool {
			e.tick(baseSteps)
			list.forms.members[e.canonical(fromResult(element))] = true
			return true
		})
	}
	return list.forms.members[e.canonical(v)]
}

// findMember looks at each of the elements.
func (e *evaluator) findMember(list, v value) bool {
	found := false
	each(list, func(_ int, _ string, element gjson.Result) bool {
		e.tick(baseSteps)
		found = e.equal(fromResult(element), v)
		return !found
	})
	return found
}
