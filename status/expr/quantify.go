package expr

import (
	"strconv"
	"strings"
)

// A tally counts the outcomes of the condition of any, all or count for the elements of a list.
type tally struct {
	total   int
	counts  [3]int   // by Tri
	values  [3]value // by Tri, what of them was found; why the first is unknown
	at      string   // where the element is that decided
	element value    // that decided
	decided Tri      // what the condition is for it
	absent  [3]bool  // by Tri, whether an element came to it by what it lacks
}

// quantify evaluates the condition of any, all or count for each element, until the outcome is
// settled. What it explains is the element that decided: the first that settles the outcome, else
// the first.
func (e *evaluator) quantify(n *node) value {
	condition := &node{op: opPath, path: &path{}} // the element itself
	if len(n.kids) > 0 {
		condition = n.kids[len(n.kids)-1]
	}
	settles := or(n.name == "any", True, False)
	var t tally
	inner := *e.silent()
	w := &walker{evaluator: &inner}
	w.visit = func(element value) (more bool) {
		v := element
		if v.kind != KindUnknown {
			v = inner.with(element, "").eval(condition)
		}
		if t.count(w.label, element, v, settles); t.total == 3 {
			inner.hints = nil // those of the first elements are enough
		}
		return n.name == "count" || e.why != nil || v.truth() != settles || v.isAbsent()
	}
	if len(n.kids) < 2 {
		w.spread(e.current(), e.subject, nil)
	} else {
		w.path = n.kids[0].path
		w.walk(inner.root(w.path), w.path.steps)
	}
	v := t.outcome(n.name, settles, w.problem)
	e.sayQuantifier(n, condition, &t, v)
	return v
}

// count counts an element, where the condition came out as said.
func (t *tally) count(label string, element, v value, settles Tri) {
	outcome := v.truth()
	t.total++
	t.counts[outcome]++
	t.absent[outcome] = t.absent[outcome] || v.isAbsent()
	if isFirst := t.counts[outcome] == 1; outcome == Unknown && isFirst {
		t.values[Unknown] = unknown(strings.TrimPrefix(label+": "+v.detail, ": "))
	} else if t.total == 1 || outcome == settles && isFirst {
		t.decided, t.at, t.element = outcome, label, element
	}
	t.values[outcome] = t.values[outcome].of(v)
}

// outcome is the value of the function. Where elements were found, it rests on what the
// condition found in those that decided.
func (t *tally) outcome(name string, settles Tri, problem value) (v value) {
	switch isCount := name == "count"; {
	case !isCount && t.counts[settles] > 0:
		v = boolean(settles == True).of(t.values[settles])
	case problem.detail != "":
		return problem
	case t.counts[Unknown] > 0:
		return t.values[Unknown]
	case isCount:
		v = integer(t.counts[True]).of(t.values[:]...)
	default:
		v = boolean(settles == False).of(t.values[:]...)
	}
	v.found = v.found || v.missed == "" // a list without elements, or a condition without paths
	v.absent = v.isAbsent() || t.isAbsent(name == "count", settles)
	return v
}

// isAbsent reports whether the outcome rests on an element for what it lacks, whatever others have.
func (t *tally) isAbsent(isCount bool, settles Tri) bool {
	if isCount && t.counts[True] > 0 {
		return t.absent[True]
	}
	return t.counts[settles] == 0 && t.absent[1-settles] || isCount && t.absent[False]
}

// A walker goes through the elements that the [] of a path lead to, while visit wants more.
type walker struct {
	*evaluator
	path    *path
	visit   func(element value) (more bool)
	done    bool
	problem value // that of the first value without elements

	label   string // [2], or ["key"]
	objects bool   // a [] was that of an object
	name    string // the keys of the members on the way to an element, joined by slashes
	member  bool   // the element is a member of an object, or a part of one
}

// walk follows steps up to the next [], and goes on for each of the elements.
func (w *walker) walk(v value, steps []step) {
	for i := range steps {
		if steps[i].kind == stepEach {
			list := w.follow(w.path, v, steps[:i])
			w.spread(list, w.path.before(&steps[i], w.src), steps[i+1:])
			return
		}
	}
	w.done = !w.visit(w.follow(w.path, v, steps))
}

// spread goes on with the steps for each element of a value that came from subject.
func (w *walker) spread(v value, subject string, steps []step) {
	if v.kind != KindUnknown && v.kind < KindArray {
		if w.nullIsList && v.kind == KindNull {
			return
		}
		v = misuse(subject, v, "is no list")
	}
	if v.kind == KindUnknown {
		if w.problem.detail == "" {
			w.problem = v
		}
		return
	}
	isObject := v.kind == KindObject
	w.objects = w.objects || isObject
	name, label, n := w.name, w.label, 0
	v.each(func(key string, element value) bool {
		w.check()
		element.hidden = v.hidden
		at := strconv.Itoa(n)
		if w.member = isObject; isObject {
			w.name, at = key, preview(key)
			if name != "" {
				w.name = name + "/" + key
			}
		}
		w.label = label + "[" + at + "]"
		n++
		w.walk(element, steps)
		return !w.done
	})
	w.name, w.label = name, label
}
