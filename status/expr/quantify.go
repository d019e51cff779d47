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
		in.spread(e.current(), "", e.scope.subject, nil, nil)
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

	listed  bool   // a null is an empty list
	objects bool   // a [] was that of an object
	name    string // the keys of the members on the way to an element, joined by slashes
	member  bool   // the element is a member of an object, or a part of one
}

// follow walks lookups up to the next [] and goes on for each of the elements.
func (in *iteration) follow(v value, lookups []syntax.Lookup, label string) {
	for i := range lookups {
		if lookups[i].Kind != syntax.LookupEach {
			continue
		}
		at, selects := i, (*syntax.Lookup)(nil)
		if i > 0 && (lookups[i-1].Kind == syntax.LookupAll || lookups[i-1].Kind == syntax.LookupMap) {
			at, selects = i-1, &lookups[i-1] // without making the list
		}
		list := in.walk(in.path, v, lookups[:at])
		if selects != nil && list.kind != KindArray && list.kind != kindLines && !in.isEmpty(list) {
			list, selects = in.walk(in.path, list, lookups[at:i]), nil
		}
		in.spread(list, label, syntax.Span{From: in.path.From, To: in.path.Before(lookups[i].From)}, selects, lookups[i+1:])
		return
	}
	in.done = !in.visit(label, in.walk(in.path, v, lookups))
}

// isEmpty reports whether a value that is no list stands for an empty one.
func (in *iteration) isEmpty(v value) bool { return in.listed && v.kind == KindNull }

// spread goes on with the lookups for each element of a value that came from subject, or, with
// a lookup that selects, for what it finds in the elements.
func (in *iteration) spread(v value, label string, subject syntax.Span, selects *syntax.Lookup, lookups []syntax.Lookup) {
	switch {
	case v.kind == KindArray || v.kind == KindObject || v.kind == kindLines:
	case in.isEmpty(v):
		return
	default:
		if v.kind != KindUnknown {
			v = unknown(fault{code: faultEach, got: v.kind, subject: subject})
		}
		if in.fault.code == faultNone {
			in.fault = *v.fault
		}
		return
	}
	in.tick(len(v.raw))
	in.objects = in.objects || v.kind == KindObject
	outer, n := in.name, -1
	each(v, func(_ int, key string, r gjson.Result) bool {
		in.tick(baseSteps)
		element := fromResult(r)
		if selects != nil {
			if selects.Query != nil && !in.selects(in.path, selects.Query, r) {
				return true
			}
			if element = in.walk(in.path, element, selects.Sub); element.kind <= KindMissing {
				return true
			}
		}
		n++
		element.hidden = v.hidden
		if in.member = v.kind == KindObject; in.member && in.listed {
			in.name = key
			if outer != "" {
				in.name = outer + "/" + key
			}
		}
		in.follow(element, lookups, in.label(label, v.kind, n, key))
		return !in.done
	})
	in.name = outer
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
