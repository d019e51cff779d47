package expr

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// A tally counts the outcomes of the condition of any, all or count for the elements
// of a list.
type tally struct {
	counts      [3]int // by Tri
	fault       *fault // why the first unknown one is unknown
	unreachable fault  // why a list has no elements to visit
}

// tally evaluates the condition of a call for each element until the outcome is settled.
// If visit is not nil, it gets all elements.
func (e *evaluator) tally(n *syntax.Call, visit func(label string, element value, outcome Tri)) tally {
	var t tally
	t.unreachable = e.elements(n, func(label string, element value) (more bool) {
		v := element
		if n.Cond != nil && element.kind != KindUnknown {
			v = e.at(element, syntax.Span{}, n.Cond)
		}
		outcome := v.truth()
		if outcome == Unknown && t.fault == nil {
			t.fault = v.fault
		}
		t.counts[outcome]++
		if visit != nil {
			visit(label, element, outcome)
		}
		return visit != nil || !t.settles(n)
	})
	return t
}

// total is the number of elements.
func (t tally) total() int { return t.counts[True] + t.counts[False] + t.counts[Unknown] }

// settles reports whether further elements cannot change the outcome.
func (t tally) settles(n *syntax.Call) bool {
	return n.Function == syntax.FuncAny && t.counts[True] > 0 || n.Function == syntax.FuncAll && t.counts[False] > 0
}

// value is the value of the function for the tally.
func (t tally) value(n *syntax.Call) value {
	switch {
	case t.settles(n):
		return boolean(n.Function == syntax.FuncAny)
	case t.unreachable.code != faultNone:
		return unknown(t.unreachable)
	case t.fault != nil:
		return value{fault: t.fault}
	case n.Function == syntax.FuncCount:
		return integer(t.counts[True])
	}
	return boolean(n.Function == syntax.FuncAll)
}

// listOf is the source of the list that any, all or count goes through first.
func listOf(n *syntax.Call) syntax.Span {
	if n.Each == nil {
		return syntax.Span{}
	}
	s, _ := n.Each.Each()
	return syntax.Span{From: n.Each.From, To: n.Each.Before(s.From)}
}

// elements calls visit for all elements that the [] of a call lead to, while it wants
// more. The fault is that of the first value without elements.
func (e *evaluator) elements(n *syntax.Call, visit func(label string, element value) (more bool)) fault {
	in := &iteration{evaluator: e, path: n.Each, visit: visit}
	if n.Each == nil {
		in.spread(e.current(), "", e.scope.subject, nil)
	} else {
		in.follow(e.root(n.Each), n.Each.Lookups, "")
	}
	return in.fault
}

// An iteration goes through the elements of lists, and of the lists in them.
type iteration struct {
	*evaluator
	path  *syntax.Path
	visit func(label string, element value) (more bool)
	done  bool // visit wants no more
	fault fault
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
			v = unknown(fault{code: faultEach, got: v.kind, subject: subject})
		}
		if in.fault.code == faultNone {
			in.fault = *v.fault
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
