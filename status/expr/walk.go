package expr

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// maxResult is the largest value, in bytes, that a modifier or tostring may be applied to: some
// need fifty times that memory.
const maxResult = 4 << 20

// walk follows a path from where it begins.
func (e *evaluator) walk(p *path) value {
	source := cmp.Or(e.src[p.from:p.to], ".")
	start := e.root(p)
	v := e.follow(p, start, p.steps)
	switch {
	case v.kind == kindMissing && !v.found, v.missed != "": // or a query has tested nothing that is there
		v.missed = source
	default:
		v.found = v.found || v.kind > kindMissing
	}
	v.positive = !v.isEmpty() && (p.root != rootDot || start.positive)
	return v
}

// root is the value that a path begins at.
func (e *evaluator) root(p *path) value {
	switch p.root {
	case rootJSON:
		return e.env.Doc.value()
	case rootElement:
		return e.env.dot().value()
	case rootLines:
		return e.env.Doc.all()
	}
	return e.current()
}

// follow walks steps from a value. p is the path that they belong to. The evidence of the value of
// a query says whether there was anything that it could test.
func (e *evaluator) follow(p *path, v value, steps []step) value {
	for i := range steps {
		if v.kind == kindUnknown {
			break
		}
		e.check(len(v.raw))
		next := e.step(p, v, &steps[i])
		if steps[i].kind == stepCount || steps[i].kind == stepModifier {
			next.evidence = v.evidence
		}
		next.hidden = next.hidden || v.hidden
		v = next
	}
	return v
}

// step follows one step from a value that is not unknown.
func (e *evaluator) step(p *path, v value, s *step) value {
	use := strings.TrimLeft(e.src[s.from:s.to], ".|")
	wrong := func(problem string) value { return typeError(p.before(s, e.src), v, problem) }
	switch {
	case s.kind == stepModifier:
		if problem := modify(&v, s); problem != "" {
			return wrong(use + " " + problem)
		}
		return v
	case e.nullIsList && v.kind == kindNull && s.kind == stepAll:
		return parseValue("[]")
	case v.isNull():
		return missing()
	case s.kind == stepField && v.kind != kindObject && (v.kind != kindArray || !s.indexes):
		return wrong("has no field " + use)
	case s.kind == stepField:
		found := e.member(v, s.key)
		if s.pattern != "" {
			found = fromResult(gjson.Get(v.raw, s.pattern))
		}
		if found.kind == kindMissing {
			e.noteMissing(p, v, s)
		}
		return found
	case v.kind == kindObject && s.kind != stepIndex:
		return wrong(use + " needs a list; put @values before it for the values of the object")
	case v.kind != kindArray:
		return wrong(use + " needs a list")
	case s.kind == stepIndex:
		return e.at(v, s.n)
	case s.kind == stepCount:
		return integer(e.count(v))
	}
	return e.selected(p, v, s)
}

// at is the element of a list with an index, which counts from the end if it is negative.
func (e *evaluator) at(v value, n int) value {
	if n < 0 {
		n += e.count(v)
	}
	return e.member(v, strconv.Itoa(n))
}

// count is the number of elements that each goes through.
func (e *evaluator) count(v value) (n int) {
	for range e.each(v) {
		n++
	}
	return n
}

// member is the member of an object with that key, or the element of a list with that index.
func (e *evaluator) member(v value, key string) value {
	if key == "" { // for which gjson has no path
		found, ok := maps.Collect(e.each(v))[""]
		return or(ok, found, missing())
	}
	return fromResult(gjson.Get(v.raw, gjson.Escape(key)))
}

// selected follows #(...), #(...)# and #.x. Like gjson, a list leaves out elements without x.
func (e *evaluator) selected(p *path, v value, s *step) value {
	var list []string
	first, tested, n := missing(), false, 0
	for _, element := range e.each(v) {
		n++
		if s.query != nil {
			selects, tests := e.selects(p, s.query, element)
			if tested = tested || tests; !selects {
				continue
			}
			first = element
		}
		if found := e.follow(p, element, s.sub); found.kind > kindMissing {
			list = append(list, found.json())
			tested = tested || s.query == nil
		}
		if s.kind == stepFirst {
			break
		}
	}
	if s.kind != stepFirst {
		first = value{kind: kindArray, raw: "[" + strings.Join(list, ",") + "]"}
	}
	if first.found = tested || n == 0; !first.found {
		first.missed, first.lacks = "#", true // the path names it
	}
	return first
}

// selects reports whether a query holds for an element, and whether there was anything to
// test.
func (e *evaluator) selects(p *path, q *query, element value) (selects, tests bool) {
	v := element
	if q.path != nil {
		if element.kind < kindArray {
			return false, false // also for ~: gjson does not look into scalars
		}
		v = e.unhinted().follow(p, element, q.path.steps)
	}
	return q.selects(v), v.kind > kindMissing || v.found || q.tilde
}

// modify applies a modifier of gjson to a value that is not unknown, or returns why that cannot be.
func modify(v *value, s *step) (problem string) {
	name, _, _ := strings.Cut(s.key, ":")
	raw := v.json()
	switch {
	case v.kind == kindNull && name == "tostr":
		return needsValue
	case v.isNull(), isOneOf(name, " this valid "):
		return ""
	case name == "fromstr" && v.kind != kindString:
		return needsText
	case isOneOf(name, " keys group ") && v.kind != kindObject, name == "values" && v.kind < kindArray:
		return "needs an object"
	case len(raw) > maxResult:
		return "needs a smaller value"
	case name == "tostr":
		*v = text(raw)
		return ""
	case name == "fromstr":
		raw = v.str
	default:
		raw = gjson.Get(raw, "@"+s.key).Raw
	}
	if !isJSON(raw) { // modifiers do not always make JSON: @join writes {"a":1,}
		return "makes no JSON of it"
	}
	*v = parseValue(raw)
	return ""
}

// typeError says why a value cannot be used.
func typeError(subject string, v value, problem string) value {
	return unknown(cmp.Or(subject, ".") + " is " + v.kind.noun() + ", and " + problem)
}
