package expr

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
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
func (n *call) settled(t *tally) bool {
	return n.fn == fnAny && t.matched > 0 || n.fn == fnAll && t.failed > 0
}

// outcome is what the function makes of a tally.
func (n *call) outcome(t *tally) value {
	switch {
	case n.settled(t):
		return boolean(n.fn == fnAny)
	case t.unknown > 0:
		return unknown(t.fault)
	case n.fn == fnCount:
		return number(strconv.Itoa(t.matched))
	}
	return boolean(n.fn == fnAll)
}

// quantify evaluates any, all and count.
func (e *evaluator) quantify(n *call) value {
	var t tally
	f, ok := e.elements(n, func(_ string, element value) bool {
		t.add(e.judge(n, element))
		return !n.settled(&t)
	})
	if !ok && !n.settled(&t) {
		return unknown(f)
	}
	return n.outcome(&t)
}

// judge asks the condition of one element.
func (e *evaluator) judge(n *call, element value) value {
	if n.cond == nil || element.kind == KindUnknown {
		return element
	}
	logics := e.logics
	e.logics = nil
	v := e.at(element, span{}, n.cond)
	e.logics = logics
	return v
}

// elements calls visit for all that the [] of a call lead to, until it returns
// false. ok is false if some cannot be reached, and the fault says why.
func (e *evaluator) elements(n *call, visit func(label string, element value) bool) (f fault, ok bool) {
	in := &iteration{evaluator: e, path: n.each, visit: visit}
	if n.each == nil {
		in.spread(e.current(), "", e.scope.subject, nil)
	} else {
		in.follow(e.root(n.each), n.each.hops, "")
	}
	return in.fault, !in.failed
}

// An iteration goes through the elements of lists, and of the lists in them.
type iteration struct {
	*evaluator
	path  *path
	visit func(label string, element value) bool

	done   bool // visit has seen enough
	failed bool
	fault  fault // the first, if failed
}

// follow walks hops up to the next [] and goes on for each of the elements.
func (in *iteration) follow(v value, hops []hop, label string) {
	for i := range hops {
		if hops[i].kind == hopEach {
			list := in.walk(in.path, v, hops[:i])
			in.spread(list, label, span{in.path.from, in.path.before(hops[i].from)}, hops[i+1:])
			return
		}
	}
	in.done = !in.visit(label, in.walk(in.path, v, hops))
}

// spread goes on with the hops for each element of a value that came from subject.
func (in *iteration) spread(v value, label string, subject span, hops []hop) {
	if v.kind != KindArray && v.kind != KindObject {
		if v.kind != KindUnknown {
			v.fault = newFault(faultEach, v.kind, subject, span{})
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
		in.follow(element, hops, in.label(label, v.kind, i, key))
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
