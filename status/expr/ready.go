package expr

import (
	"index/suffixarray"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// ready is what a value that is compared again and again has been made into, so
// that asking it takes the time of what it is compared with, and not its own.
type ready struct {
	number    *rawjson.Number
	canonical string
	scanned   int             // how often it was searched through
	members   map[string]bool // the canonical texts of a list's elements
	parts     *suffixarray.Index
}

// prepared is the value with room for what it will be made into.
func (v value) prepared() value {
	if v.ready == nil && (v.kind == KindNumber || v.kind == KindArray || v.kind == KindObject) && !rawjson.IsShort(v.raw) {
		v.ready = &ready{}
	}
	return v
}

// cost is the steps of comparing a value with another: its size, unless it is ready.
func (v value) cost() int {
	if v.ready != nil {
		return 0
	}
	return len(v.raw) + len(v.str)
}

// compareNumbers orders two numbers by their exact values.
func compareNumbers(a, b value) int {
	if a.ready == nil && b.ready == nil {
		return rawjson.CompareNumbers(a.raw, b.raw)
	}
	return a.number().Compare(b.number())
}

// number is a number taken apart.
func (v value) number() rawjson.Number {
	if v.ready == nil {
		return rawjson.ParseNumber(v.raw)
	}
	if v.ready.number == nil {
		n := rawjson.ParseNumber(v.raw)
		v.ready.number = &n
	}
	return *v.ready.number
}

// canonical is the text that a value has in common with those that are equal.
func (e *evaluator) canonical(v value) string {
	switch {
	case v.isNull():
		return "null"
	case v.kind == KindString:
		return rawjson.CanonicalText(v.str)
	case v.ready == nil:
		return rawjson.Canonical(v.raw)
	}
	if v.ready.canonical == "" {
		e.tick(len(v.raw))
		v.ready.canonical = rawjson.Canonical(v.raw)
	}
	return v.ready.canonical
}

// worthIndexing is how often a value is searched through before it is indexed.
const worthIndexing = 8

// searched counts a search through all of a value, and reports whether there have
// been so many that an index pays. An index takes up to size bytes.
func (e *evaluator) searched(v value, size int) bool {
	e.tick(len(v.raw) + len(v.str))
	if v.ready == nil {
		return false
	}
	v.ready.scanned++
	if v.ready.scanned <= worthIndexing || e.keptSize+size > maxKept {
		return false
	}
	e.keptSize += size
	return true
}

// hasPart reports whether part is in the text.
func (e *evaluator) hasPart(v value, part string) bool {
	if len(part) > len(v.str) {
		return false
	}
	e.tick(len(part))
	if v.ready == nil || v.ready.parts == nil {
		const perByte = 4
		if !e.searched(v, perByte*len(v.str)) {
			return strings.Contains(v.str, part)
		}
		e.tick(len(v.str))
		v.ready.parts = suffixarray.New([]byte(v.str))
	}
	return part == "" || len(v.ready.parts.Lookup([]byte(part), 1)) > 0
}

// hasMember reports whether an element of the list equals v.
func (e *evaluator) hasMember(list, v value) bool {
	e.tick(baseSteps + v.cost())
	if list.ready == nil || list.ready.members == nil {
		if !e.searched(list, len(list.raw)) {
			return e.findMember(list, v)
		}
		e.tick(len(list.raw))
		list.ready.members = map[string]bool{}
		each(list, func(_ int, _ string, element gjson.Result) bool {
			e.tick(baseSteps)
			list.ready.members[e.canonical(fromResult(element))] = true
			return true
		})
	}
	return list.ready.members[e.canonical(v)]
}

// findMember looks at each of the elements.
func (e *evaluator) findMember(list, v value) bool {
	found := false
	v = v.prepared()
	each(list, func(_ int, _ string, element gjson.Result) bool {
		e.tick(baseSteps)
		found = e.equal(fromResult(element), v)
		return !found
	})
	return found
}
