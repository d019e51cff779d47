package expr

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// walk follows lookups from a value. p is the path that they belong to, for faults.
func (e *evaluator) walk(p *syntax.Path, v value, lookups []syntax.Lookup) value {
	for i := range lookups {
		if v.kind == KindUnknown {
			return v
		}
		e.tick(baseSteps + len(v.raw))
		hidden := v.hidden
		v = e.lookup(p, v, &lookups[i])
		v.hidden = hidden
	}
	return v
}

// lookup follows one lookup from a value that is not unknown.
func (e *evaluator) lookup(p *syntax.Path, v value, h *syntax.Lookup) value {
	switch {
	case h.Kind == syntax.LookupModifier:
		return e.modify(p, v, h)
	case v.isNull():
		return missing()
	case h.Kind == syntax.LookupFields:
		return e.fields(p, v, h)
	case h.Kind == syntax.LookupKey:
		return e.field(p, v, &h.Steps[0])
	case h.Kind == syntax.LookupIndex && v.kind != KindArray:
		return pathFault(p, faultIndex, v.kind, h.Span)
	case h.Kind == syntax.LookupIndex && h.N < 0:
		return fromResult(gjson.Parse(rawjson.FromEnd(v.raw, -h.N)))
	case h.Kind == syntax.LookupIndex:
		return fromResult(gjson.Get(v.raw, strconv.Itoa(h.N)))
	case v.kind != KindArray && v.kind != kindLines:
		return pathFault(p, faultList, v.kind, h.Span)
	}
	return e.lookupInList(p, v, h)
}

// pathFault is the value for a step that does not apply to the value before it.
func pathFault(p *syntax.Path, code faultCode, got Kind, step syntax.Span) value {
	return unknown(fault{code: code, got: got, subject: syntax.Span{From: p.From, To: p.Before(step.From)}, use: step})
}

// fields reads keys in one go, and one by one only if that finds nothing, to tell a
// missing value from a wrong type.
func (e *evaluator) fields(p *syntax.Path, v value, h *syntax.Lookup) value {
	if v.kind == KindObject || v.kind == KindArray {
		found := e.find(v, h)
		if found.kind != KindMissing {
			return found
		}
	}
	for i := range h.Steps {
		if v.isNull() {
			return missing()
		}
		if v = e.field(p, v, &h.Steps[i]); v.kind == KindUnknown {
			return v
		}
	}
	return v
}

// find reads what the steps of a lookup lead to.
func (e *evaluator) find(v value, h *syntax.Lookup) value {
	if h.Wild {
		return e.findMatching(v, h.Steps)
	}
	return fromResult(gjson.Get(v.raw, h.GJSON))
}

// field reads one key of an object, or an element of a list if the step may be an index.
func (e *evaluator) field(p *syntax.Path, v value, s *syntax.Step) value {
	if v.kind != KindObject && (v.kind != KindArray || !s.Loose) {
		return pathFault(p, faultField, v.kind, s.Span)
	}
	e.tick(len(v.raw))
	if s.Pattern != nil {
		return e.findMatching(v, []syntax.Step{*s})
	}
	return fromResult(gjson.Get(v.raw, s.Component()))
}

// findMatching follows steps that include patterns, which gjson matches in exponential
// time. Like gjson, it goes on to the next match if the first one leads nowhere.
func (e *evaluator) findMatching(v value, steps []syntax.Step) value {
	found := missing()
	if v.kind != KindObject && v.kind != KindArray {
		return found
	}
	e.tick(len(v.raw))
	gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, member gjson.Result) bool {
		e.tick(baseSteps)
		if !e.names(&steps[0], v.kind, key) {
			return true
		}
		if found = fromResult(member); len(steps) > 1 {
			found = e.findMatching(found, steps[1:])
		}
		return found.kind == KindMissing
	})
	return found
}

// names reports whether a step names a member of an object or of a list.
func (e *evaluator) names(s *syntax.Step, in Kind, key gjson.Result) bool {
	switch {
	case in == KindArray:
		n, err := strconv.Atoi(s.Key)
		return err == nil && s.Pattern == nil && n == int(key.Num)
	case s.Pattern != nil:
		return e.match(s.Pattern, key.Str)
	}
	return key.Str == s.Key
}

// lookupInList follows a lookup that needs a list.
func (e *evaluator) lookupInList(p *syntax.Path, v value, h *syntax.Lookup) value {
	found, n := missing(), 0
	switch h.Kind {
	case syntax.LookupCount:
		return integer(count(v))
	case syntax.LookupLine:
		each(v, func(i int, _ string, document gjson.Result) bool {
			if i == h.N {
				found = fromResult(document)
			}
			return i < h.N
		})
		return found
	case syntax.LookupFirst, syntax.LookupAllCount:
		each(v, func(_ int, _ string, element gjson.Result) bool {
			if e.selects(p, h.Query, element) {
				found = fromResult(element)
				n++
			}
			return n == 0 || h.Kind == syntax.LookupAllCount
		})
		if h.Kind == syntax.LookupAllCount {
			return integer(n)
		}
		return found
	}
	return e.collect(p, v, h)
}

// collect makes the list of what the lookups after # find in the elements. Like gjson, it
// leaves out elements without it.
func (e *evaluator) collect(p *syntax.Path, v value, h *syntax.Lookup) value {
	list := []byte{'['}
	each(v, func(_ int, _ string, element gjson.Result) bool {
		if h.Query != nil && !e.selects(p, h.Query, element) {
			return true
		}
		found := e.walk(p, fromResult(element), h.Sub)
		if found.kind <= KindMissing {
			return true
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, found.json()...)
		return true
	})
	e.made += len(list)
	return value{kind: KindArray, raw: string(append(list, ']'))}
}

// selects reports whether a query holds for an element.
func (e *evaluator) selects(p *syntax.Path, q *syntax.Query, element gjson.Result) bool {
	e.tick(baseSteps)
	v := fromResult(element)
	if len(q.Lookups) > 0 {
		if element.Type != gjson.JSON {
			return false // also for ~: gjson does not look into scalars
		}
		if v = e.walk(p, v, q.Lookups); v.kind == KindUnknown {
			v = missing()
		}
	}
	switch {
	case q.Tilde:
		return isTilde(v, q.Want) == (q.Op == syntax.OpEqual)
	case v.kind == KindMissing || q.Op == 0:
		return v.kind != KindMissing
	case v.kind == KindString && q.Pattern != nil:
		return e.match(q.Pattern, v.str) == (q.Op == syntax.OpLike)
	case v.kind == KindString:
		return ordered(q.Op, strings.Compare(v.str, q.Want))
	case v.kind == KindNumber && q.IsNumber:
		n, _ := strconv.ParseFloat(v.raw, 64)
		return ordered(q.Op, cmp.Compare(n, q.Number))
	case v.kind == KindBool && (q.Want == "true" || q.Want == "false"):
		return ordered(q.Op, strings.Compare(v.raw, q.Want))
	}
	// Any other operand is just unequal: gjson takes it for 0.
	return q.Op == syntax.OpNotEqual && (v.kind == KindNumber || v.kind == KindBool)
}

// isTilde reports whether a value matches the word after a tilde. Anything present
// matches *. As in gjson, a number is false if it is 0, and text is true or false by what
// it spells.
func isTilde(v value, want string) bool {
	truth := v.truth()
	switch {
	case want == "*":
		return v.kind != KindMissing
	case want == "null":
		return v.isNull()
	case v.kind == KindNumber:
		n, _ := strconv.ParseFloat(v.raw, 64)
		truth = triOf(n != 0)
	case v.kind == KindString:
		b, err := strconv.ParseBool(strings.ToLower(v.str))
		if truth = triOf(b); err != nil {
			truth = Unknown
		}
	case v.kind > KindString:
		truth = Unknown
	}
	return truth == triOf(want == "true")
}

// each calls yield for the elements of a list, the values of an object, or the
// documents of JSON lines, until it returns false. Of equal keys of an object
// only the first counts.
func each(v value, yield func(i int, key string, element gjson.Result) bool) {
	i := -1
	next := func(_, element gjson.Result) bool {
		i++
		return yield(i, "", element)
	}
	switch v.kind {
	case kindLines:
		gjson.ForEachLine(v.raw, func(document gjson.Result) bool { return next(gjson.Result{}, document) })
	case KindArray:
		gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(next)
	case KindObject:
		seen := map[string]bool{}
		gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, member gjson.Result) bool {
			if seen[key.Str] {
				return true
			}
			seen[key.Str] = true
			i++
			return yield(i, key.Str, member)
		})
	}
}

// count is the number of elements that each goes through.
func count(v value) int {
	n := 0
	each(v, func(int, string, gjson.Result) bool { n++; return true })
	return n
}
