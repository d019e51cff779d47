package expr

import (
	"cmp"
	"iter"
	"maps"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// An evaluator evaluates an expression for one Env. Modified copies evaluate parts of the expression, for example
// with another value for ".".
type evaluator struct {
	src     string
	env     *Env
	dot     *value // the value of "."; nil if "." is the document
	subject string // the source of dot; "" if dot is an element

	steps      *int   // the number of steps since check last checked the context
	negated    bool   // the number of enclosing nots is odd, so false is the required outcome
	hints      *hints // receives hints about paths that lead nowhere; nil to collect no hints
	nullIsList bool   // null counts as an empty list
}

// An abandoned is the value of the panic that ends an evaluation when its context is done.
type abandoned struct{}

// check abandons the evaluation if its context is done. bytes is the size of the data that the next step processes.
// Each call counts as one step, plus one step for each full kilobyte. check looks at the context only once every
// 1000 steps, so a short evaluation is never abandoned.
func (e *evaluator) check(bytes int) {
	const every = 1000
	if *e.steps += 1 + bytes>>10; *e.steps < every {
		return
	}
	if *e.steps = 0; e.env.Context != nil && e.env.Context.Err() != nil {
		panic(abandoned{})
	}
}

// unhinted returns a copy of e that collects no hints, for a path that may be missing on purpose.
func (e evaluator) unhinted() *evaluator {
	e.hints = nil
	return &e
}

// with returns a copy of e in which the value of "." is dot. subject is the source of dot.
func (e evaluator) with(dot value, subject string) *evaluator {
	e.dot, e.subject = &dot, subject
	return &e
}

// each iterates over the elements of a list, or over the keys and values of an object. If a key occurs several
// times, only its first value counts.
func (e *evaluator) each(v value) iter.Seq2[string, value] {
	return func(yield func(key string, element value) bool) {
		seen := map[string]bool{}
		gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, element gjson.Result) bool {
			e.check(len(element.Raw))
			if v.kind == kindObject {
				if seen[key.Str] {
					return true
				}
				seen[key.Str] = true
			}
			found := fromResult(element)
			found.hidden = v.hidden
			return yield(key.Str, found)
		})
	}
}

// count returns the number of elements of a list, or of members of an object.
func (e *evaluator) count(v value) (n int) {
	for range e.each(v) {
		n++
	}
	return n
}

// member returns the value of key in the object v. If v is a list, key is an index. If there is no such member, the
// value is missing.
func (e *evaluator) member(v value, key string) value {
	if key == "" { // gjson has no path for the empty key
		return cmp.Or(maps.Collect(e.each(v))[""], missing())
	}
	return fromResult(gjson.Get(v.raw, gjson.Escape(key)))
}

// walk returns the value that p leads to.
func (e *evaluator) walk(p *path) value {
	start := e.root(p)
	v := e.follow(p, start, p.steps)
	switch isDocument := p.root == "" || p.root == ".." || isOneOf(p.root, documents); {
	case v.kind == kindMissing && v.ground == onNothing:
		v.ground = onAbsence
	case v.kind > kindMissing && isDocument && !v.isAbsent():
		v.ground = onValue
	}
	if v.isAbsent() {
		v.missed = cmp.Or(e.src[p.from:p.to], ".")
	}
	v.positive = !v.isEmpty() && (p.root != "" || start.positive) && !isOneOf(p.root, " attempt elapsed unchanged name gone ")
	return v
}

// root returns the value where p starts.
func (e *evaluator) root(p *path) value {
	switch {
	case p.root != "":
		return e.env.read(p.root, p.field)
	case e.dot != nil:
		return *e.dot
	}
	v := e.env.dot().value()
	v.positive = !v.isEmpty()
	return v
}

// follow returns the value reached from v by steps, a part of p. If a step is a query, the evidence of the result
// states whether an element had the member that the query tests.
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

// step applies s, a step of p, to the known value v.
func (e *evaluator) step(p *path, v value, s *step) value {
	before, use := p.before(s, e.src), strings.TrimLeft(e.src[s.from:s.to], ".|")
	switch {
	case s.kind == stepModifier:
		result, problem := modified(v, s.key)
		if problem != "" {
			return typeError(before, v, use+" "+problem)
		}
		return result
	case e.nullIsList && v.kind == kindNull && s.kind == stepAll:
		return parseValue("[]")
	case v.isNull():
		return missing()
	case s.kind == stepField && (v.kind == kindObject || v.kind == kindArray && s.indexes):
		if s.pattern != "" {
			return fromResult(gjson.Get(v.raw, s.pattern))
		}
		found := e.member(v, s.key)
		if found.kind == kindMissing && v.kind == kindObject && !v.hidden && e.hints != nil {
			e.hints.addMember(s.key, before, e.dotName(), e.each(v))
		}
		return found
	case s.kind == stepField:
		return typeError(before, v, "has no field "+use)
	case v.kind != kindArray:
		return typeError(before, v, use+" needs a list")
	case s.kind == stepCount:
		return integer(e.count(v))
	case s.kind == stepIndex && s.n < 0: // counts from the end
		return e.member(v, strconv.Itoa(s.n+e.count(v)))
	case s.kind == stepIndex:
		return e.member(v, strconv.Itoa(s.n))
	}
	return e.selected(p, v, s)
}

// dotName returns a description of "." for hints, such as "the document".
func (e *evaluator) dotName() string {
	switch {
	case e.dot != nil:
		return cmp.Or(e.subject, "an element")
	case e.env.Element != nil:
		return "the element"
	}
	return "the document"
}

// selected applies a step #(...), #(...)# or #.x to the list v. As in gjson, the result of #.x has no entries for
// elements without x.
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
			if first = element; s.kind == stepFirst {
				break
			}
		}
		if found := e.follow(p, element, s.sub); found.kind > kindMissing {
			list = append(list, found.json())
			tested = tested || s.query == nil
		}
	}
	if s.kind != stepFirst {
		first = value{kind: kindArray, raw: "[" + strings.Join(list, ",") + "]"}
	}
	if first.ground = onValue; !tested && n > 0 {
		first.ground, first.missed = onLack, "#" // walk sets the source of the path
	}
	return first
}

// selects reports whether element matches the query, by the rules described at the type query. tests reports whether
// the query could test the element: the element has the member, or the operand of the query starts with ~.
func (e *evaluator) selects(p *path, q *query, element value) (selects, tests bool) {
	v := element
	if q.path != nil {
		if element.kind < kindArray {
			return false, false // even for an operator with ~, because gjson does not look into scalars
		}
		v = e.unhinted().follow(p, element, q.path.steps)
	}
	tests = v.kind > kindMissing || v.ground == onValue || q.tilde
	_, err := strconv.ParseFloat(q.want, 64)
	isBool := q.want == "true" || q.want == "false"
	member := ""
	switch {
	case q.sign == "":
		return v.kind > kindMissing, tests
	case !q.tilde && (v.kind == kindNumber && err != nil || v.kind == kindBool && !isBool):
		return q.sign == "!=", tests
	case v.kind > kindMissing:
		member = `"a":` + v.json()
	}
	return gjson.Get("[{"+member+"}]", "#(a"+q.test+")").Exists(), tests
}

// maxResult is the maximum size, in bytes, of the input of a modifier or of tostring. Some modifiers need fifty
// times as much memory.
const maxResult = 4 << 20

// modified applies modifier, a gjson modifier that may include an argument, to v, a known value. If the modifier
// cannot be applied, problem states why.
func modified(v value, modifier string) (result value, problem string) {
	name, _, _ := strings.Cut(modifier, ":")
	raw := v.json()
	switch {
	case v.kind == kindNull && name == "tostr":
		return v, needsValue
	case v.isNull(), isOneOf(name, " this valid "):
		return v, ""
	case name == "fromstr" && v.kind != kindString:
		return v, needsText
	case isOneOf(name, " keys group ") && v.kind != kindObject, name == "values" && v.kind < kindArray:
		return v, "needs an object"
	case len(raw) > maxResult:
		return v, "needs a smaller value"
	}
	raw = gjson.Get(raw, "@"+modifier).Raw
	if !isJSON(raw) { // the result of some modifiers is not JSON: @join writes {"a":1,}
		return v, "makes no JSON of this value"
	}
	return parseValue(raw), ""
}
