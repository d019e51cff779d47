package expr

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// walk follows lookups from a value. src is the path that they belong to, for the
// words of a fault.
func (e *evaluator) walk(src *syntax.Path, v value, lookups []syntax.Lookup) value {
	for i := range lookups {
		h := &lookups[i]
		if v.kind == KindUnknown {
			return v
		}
		hidden := v.hidden
		e.tick(baseSteps + len(v.raw))
		v = e.lookup(v, h, src)
		v.hidden = hidden
	}
	return v
}

// lookup follows one lookup from a value that is not unknown.
func (e *evaluator) lookup(v value, h *syntax.Lookup, src *syntax.Path) value {
	if h.Kind == syntax.LookupModifier {
		return e.modify(v, h, src)
	}
	if v.isNull() {
		return missing()
	}
	switch h.Kind {
	case syntax.LookupFields:
		return e.fields(v, h, src)
	case syntax.LookupKey:
		return field(v, h.Key, h.Span, src)
	case syntax.LookupIndex:
		return index(v, h, src)
	}
	if v.kind != KindArray && v.kind != kindLines {
		return pathFault(src, faultList, v.kind, h.Span)
	}
	return e.listLookup(v, h, src)
}

// fault is the value for a step that v cannot be asked for.
func pathFault(p *syntax.Path, code faultCode, got Kind, step syntax.Span) value {
	return unknown(newFault(code, got, syntax.Span{From: p.From, To: p.Before(step.From)}, step))
}

// fields reads keys in one go, and one by one only where that finds nothing: to
// tell what is missing from what is of the wrong type.
func (e *evaluator) fields(v value, h *syntax.Lookup, src *syntax.Path) value {
	if v.kind == kindLines {
		return e.line(v, h, src)
	}
	if v.kind == KindObject || v.kind == KindArray {
		if found := e.find(v, h); found.kind != KindMissing {
			return found
		}
	}
	for i := range h.Steps {
		s := &h.Steps[i]
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
func (e *evaluator) looseField(v value, s *syntax.Step, src *syntax.Path) value {
	list := v.kind == KindArray && s.Kind == syntax.StepLoose
	if v.kind != KindObject && !list {
		return pathFault(src, faultField, v.kind, s.Span)
	}
	e.tick(len(v.raw))
	if s.Glob != "" {
		return e.findGlob(v, []syntax.Step{*s})
	}
	return fromResult(gjson.Get(v.raw, s.Component()))
}

// field reads one key of an object only.
func field(v value, key string, step syntax.Span, src *syntax.Path) value {
	if v.kind != KindObject {
		return pathFault(src, faultField, v.kind, step)
	}
	return fromResult(gjson.Get(v.raw, gjson.Escape(key)))
}

// line reads a document out of JSON lines, and then its fields.
func (e *evaluator) line(v value, h *syntax.Lookup, src *syntax.Path) value {
	n, err := strconv.Atoi(h.Steps[0].Key)
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
	if len(h.Steps) == 1 || found.isNull() {
		return found
	}
	rest := syntax.Lookup{Steps: h.Steps[1:], GJSON: h.GJSON[len(h.Steps[0].Key)+1:], Wild: h.Wild}
	return e.fields(found, &rest, src)
}

// index reads an element of a list only; -1 is the last.
func index(v value, h *syntax.Lookup, src *syntax.Path) value {
	if v.kind != KindArray {
		return pathFault(src, faultIndex, v.kind, h.Span)
	}
	if h.N < 0 {
		return fromResult(gjson.Parse(rawjson.FromEnd(v.raw, -h.N)))
	}
	return fromResult(gjson.Get(v.raw, strconv.Itoa(h.N)))
}

// listLookup follows a step that needs a list.
func (e *evaluator) listLookup(v value, h *syntax.Lookup, src *syntax.Path) value {
	switch h.Kind {
	case syntax.LookupCount:
		n := 0
		each(v, func(int, string, gjson.Result) bool { n++; return true })
		return number(strconv.Itoa(n))
	case syntax.LookupFirst:
		found := missing()
		each(v, func(_ int, _ string, element gjson.Result) bool {
			if queryMatches(h.Query, e, src, element) {
				found = fromResult(element)
				return false
			}
			return true
		})
		return found
	case syntax.LookupAllCount:
		n := 0
		each(v, func(_ int, _ string, element gjson.Result) bool {
			if queryMatches(h.Query, e, src, element) {
				n++
			}
			return true
		})
		return number(strconv.Itoa(n))
	}
	return e.collect(v, h, src)
}

// collect makes the list of what the lookups after # find in the elements; elements
// without it are left out, as gjson does.
func (e *evaluator) collect(v value, h *syntax.Lookup, src *syntax.Path) value {
	list := []byte{'['}
	each(v, func(_ int, _ string, element gjson.Result) bool {
		if h.Query != nil && !queryMatches(h.Query, e, src, element) {
			return true
		}
		found := e.walk(src, fromResult(element), h.Sub)
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
