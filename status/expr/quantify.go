package expr

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// A tally counts the outcomes of a condition for the elements of a list.
type tally struct {
	total, matched, failed, unknown int

	fault fault // why the first unknown one is unknown
}

// add counts one more element.
func (t *tally) add(v value) {
	t.total++
	switch v.truth() {
	case True:
		t.matched++
	case False:
		t.failed++
	case Unknown:
		if t.unknown++; t.unknown == 1 {
			t.fault = v.fault
		}
	}
}

// settled reports whether the elements to come can change nothing.
func settled(n *syntax.Call, t *tally) bool {
	return n.Function == syntax.FuncAny && t.matched > 0 || n.Function == syntax.FuncAll && t.failed > 0
}

// outcome is what the function makes of a tally.
func tallyOutcome(n *syntax.Call, t *tally) value {
	switch {
	case settled(n, t):
		return boolean(n.Function == syntax.FuncAny)
	case t.unknown > 0:
		return unknown(t.fault)
	case n.Function == syntax.FuncCount:
		return number(strconv.Itoa(t.matched))
	}
	return boolean(n.Function == syntax.FuncAll)
}

// quantify evaluates any, all and count.
func (e *evaluator) quantify(n *syntax.Call) value {
	var t tally
	f, ok := e.elements(n, func(_ string, element value) bool {
		t.add(e.judge(n, element))
		return !settled(n, &t)
	})
	if !ok && !settled(n, &t) {
		return unknown(f)
	}
	return tallyOutcome(n, &t)
}

// judge asks the condition of one element.
func (e *evaluator) judge(n *syntax.Call, element value) value {
	if n.Cond == nil || element.kind == KindUnknown {
		return element
	}
	logics := e.logics
	e.logics = nil
	v := e.at(element, syntax.Span{}, n.Cond)
	e.logics = logics
	return v
}

// elements calls visit for all that the [] of a call lead to, until it returns
// false. ok is false if some cannot be reached, and the fault says why.
func (e *evaluator) elements(n *syntax.Call, visit func(label string, element value) bool) (f fault, ok bool) {
	in := &iteration{evaluator: e, path: n.Each, visit: visit}
	if n.Each == nil {
		in.spread(e.current(), "", e.scope.subject, nil)
	} else {
		in.follow(e.root(n.Each), n.Each.Lookups, "")
	}
	return in.fault, !in.failed
}

// An iteration goes through the elements of lists, and of the lists in them.
type iteration struct {
	*evaluator
	path  *syntax.Path
	visit func(label string, element value) bool

	done   bool // visit has seen enough
	failed bool
	fault  fault // the first, if failed
}

// follow walks lookups up to the next [] and goes on for each of the elements.
func (in *iteration) follow(v value, lookups []syntax.Lookup, label string) {
	for i := range lookups {
		if lookups[i].Kind == syntax.LookupEach {
			list := in.walk(in.path, v, lookups[:i])
			in.spread(list, label, syntax.Span{From: in.path.From, To: in.path.Before(lookups[i].From)}, lookups[i+1:])
			return
		}
	}
	in.done = !in.visit(label, in.walk(in.path, v, lookups))
}

// spread goes on with the lookups for each element of a value that came from subject.
func (in *iteration) spread(v value, label string, subject syntax.Span, lookups []syntax.Lookup) {
	if v.kind != KindArray && v.kind != KindObject {
		if v.kind != KindUnknown {
			v.fault = newFault(faultEach, v.kind, subject, syntax.Span{})
		}
		if !in.failed {
			in.failed, in.fault = true, v.fault
		}
		return
	}
	in.tick(len(v.raw))
	each(v, func(i int, key string, r gjson.Result) bool {
		in.tick(baseSteps)
		element := fromResult(r)
		element.hidden = v.hidden
		in.follow(element, lookups, in.label(label, v.kind, i, key))
		return !in.done
	})
}

// label says where an element is: [2], or ["key"].
func (in *iteration) label(outer string, list Kind, i int, key string) string {
	switch {
	case !in.labels:
		return ""
	case list == KindObject:
		return outer + "[" + rawjson.Preview(key) + "]"
	}
	return outer + "[" + strconv.Itoa(i) + "]"
}
