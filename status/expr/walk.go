package expr

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// walk follows hops from a value. src is the path that they belong to, for the
// words of a fault.
func (e *evaluator) walk(src *path, v value, hops []hop) value {
	for i := range hops {
		h := &hops[i]
		if v.kind == KindUnknown {
			return v
		}
		hidden := v.hidden
		e.tick(baseSteps + len(v.raw))
		v = e.hop(v, h, src)
		v.hidden = hidden
	}
	return v
}

// hop follows one hop from a value that is not unknown.
func (e *evaluator) hop(v value, h *hop, src *path) value {
	if h.kind == hopModifier {
		return e.modify(v, h, src)
	}
	if v.isNull() {
		return missing()
	}
	switch h.kind {
	case hopFields:
		return e.fields(v, h, src)
	case hopKey:
		return field(v, h.key, h.span, src)
	case hopIndex:
		return index(v, h, src)
	}
	if v.kind != KindArray && v.kind != kindLines {
		return src.fault(faultList, v.kind, h.span)
	}
	return e.listHop(v, h, src)
}

// fault is the value for a step that v cannot be asked for.
func (p *path) fault(code faultCode, got Kind, step span) value {
	return unknown(newFault(code, got, span{p.from, p.before(step.from)}, step))
}

// before is where the part of the path ends that stands before a step.
func (p *path) before(step int) int {
	end := p.from
	if p.root == rootJSON {
		end += len("$json")
	}
	for i := range p.steps {
		if p.steps[i].from >= step {
			break
		}
		end = p.steps[i].to
	}
	return end
}

// fields reads keys in one go, and one by one only where that finds nothing: to
// tell what is missing from what is of the wrong type.
func (e *evaluator) fields(v value, h *hop, src *path) value {
	if v.kind == kindLines {
		return e.line(v, h, src)
	}
	if v.kind == KindObject || v.kind == KindArray {
		if found := e.find(v, h); found.kind != KindMissing {
			return found
		}
	}
	for i := range h.steps {
		s := &h.steps[i]
		if v.isNull() {
			return missing()
		}
		if v = e.looseField(v, s, src); v.kind == KindUnknown {
			return v
		}
	}
	return v
}

// looseField reads one key, or an element of a list where the step is an index.
func (e *evaluator) looseField(v value, s *step, src *path) value {
	list := v.kind == KindArray && s.kind == stepLoose
	if v.kind != KindObject && !list {
		return src.fault(faultField, v.kind, s.span)
	}
	e.tick(len(v.raw))
	if s.glob != "" {
		return e.findGlob(v, []step{*s})
	}
	return fromResult(gjson.Get(v.raw, s.component()))
}

// field reads one key of an object only.
func field(v value, key string, step span, src *path) value {
	if v.kind != KindObject {
		return src.fault(faultField, v.kind, step)
	}
	return fromResult(gjson.Get(v.raw, gjson.Escape(key)))
}

// line reads a document out of JSON lines, and then its fields.
func (e *evaluator) line(v value, h *hop, src *path) value {
	n, err := strconv.Atoi(h.steps[0].key)
	if err != nil {
		return missing()
	}
	found := missing()
	each(v, func(i int, _ string, element gjson.Result) bool {
		if i == n {
			found = fromResult(element)
		}
		return i < n
	})
	if len(h.steps) == 1 || found.isNull() {
		return found
	}
	rest := hop{steps: h.steps[1:], get: h.get[len(h.steps[0].key)+1:], wild: h.wild}
	return e.fields(found, &rest, src)
}

// index reads an element of a list only; -1 is the last.
func index(v value, h *hop, src *path) value {
	if v.kind != KindArray {
		return src.fault(faultIndex, v.kind, h.span)
	}
	if h.n < 0 {
		return fromResult(gjson.Parse(rawjson.FromEnd(v.raw, -h.n)))
	}
	return fromResult(gjson.Get(v.raw, strconv.Itoa(h.n)))
}

// listHop follows a step that needs a list.
func (e *evaluator) listHop(v value, h *hop, src *path) value {
	switch h.kind {
	case hopCount:
		n := 0
		each(v, func(int, string, gjson.Result) bool { n++; return true })
		return number(strconv.Itoa(n))
	case hopFirst:
		found := missing()
		each(v, func(_ int, _ string, element gjson.Result) bool {
			if h.query.matches(e, src, element) {
				found = fromResult(element)
				return false
			}
			return true
		})
		return found
	case hopAllCount:
		n := 0
		each(v, func(_ int, _ string, element gjson.Result) bool {
			if h.query.matches(e, src, element) {
				n++
			}
			return true
		})
		return number(strconv.Itoa(n))
	}
	return e.collect(v, h, src)
}

// collect makes the list of what the hops after # find in the elements; elements
// without it are left out, as gjson does.
func (e *evaluator) collect(v value, h *hop, src *path) value {
	list := []byte{'['}
	each(v, func(_ int, _ string, element gjson.Result) bool {
		if h.query != nil && !h.query.matches(e, src, element) {
			return true
		}
		found := e.walk(src, fromResult(element), h.sub)
		if found.kind <= KindMissing {
			return true
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, found.json()...)
		return true
	})
	return array(string(append(list, ']')))
}

// each calls yield for the elements of a list, the values of an object, or the
// documents of JSON lines, until it returns false. Of equal keys of an object
// only the first counts.
func each(v value, yield func(i int, key string, element gjson.Result) bool) {
	i := -1
	switch v.kind {
	case kindLines:
		gjson.ForEachLine(v.raw, func(element gjson.Result) bool {
			i++
			return yield(i, "", element)
		})
	case KindArray:
		gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(_, element gjson.Result) bool {
			i++
			return yield(i, "", element)
		})
	case KindObject:
		seen := map[string]bool{}
		gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, element gjson.Result) bool {
			if seen[key.Str] {
				return true
			}
			seen[key.Str] = true
			i++
			return yield(i, key.Str, element)
		})
	}
}
