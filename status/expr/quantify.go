package expr

import (
	"strconv"
	"strings"
)

// A tally counts the outcomes of the condition of any, all or count for the elements of a list.
type tally struct {
	total   int
	counts  [3]int   // by Tri
	values  [3]value // by Tri, their evidence together; of Unknown also why the first is
	at      string   // where the element is that decided
	element value    // that decided
	decided Tri      // what the condition is for it
}

// quantify evaluates the condition of any, all or count for each element, until the outcome is
// settled. What it explains is the element that decided: the first that settles the outcome, else
// the first.
func (e *evaluator) quantify(n *node) value {
	condition := &node{op: opPath, path: &path{}} // the element itself
	if len(n.kids) > 0 {
		condition = n.kids[len(n.kids)-1]
	}
	settles := map[string]Tri{"any": True, "all": False, "count": Unknown}[n.name]
	var t tally
	inner := *e.silent()
	w := &walker{evaluator: &inner}
	w.visit = func(element value) (more bool) {
		v := element
		if v.kind != kindUnknown {
			element.positive = true
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

// count counts an element, where the condition came out as said. One element that settles the outcome
// is enough; otherwise each has to be known.
func (t *tally) count(label string, element, v value, settles Tri) {
	outcome := v.truth()
	t.total++
	t.counts[outcome]++
	isFirst := t.counts[outcome] == 1
	if outcome == Unknown && isFirst {
		t.values[Unknown] = unknown(strings.TrimPrefix(label+": "+v.undecided().detail, ": "))
	} else if t.total == 1 || outcome == settles && isFirst {
		t.decided, t.at, t.element = outcome, label, element
	}
	known := or(isFirst, v, t.values[outcome]).evidence
	t.values[outcome] = t.values[outcome].of(v)
	t.values[outcome].evidence = known.either(v.evidence, outcome != settles)
}

// outcome is the value of the function. It is unknown if an element decided by absence alone.
func (t *tally) outcome(name string, settles Tri, problem value) (v value) {
	decided := settles
	switch isCount := name == "count"; {
	case !isCount && t.counts[settles] > 0:
		v = boolean(settles == True)
	case problem.detail != "":
		return problem
	case t.counts[Unknown] > 0:
		v = t.values[Unknown]
		v.least = or(isCount, t.counts[True], 0)
		return v
	case isCount:
		v, decided = integer(t.counts[True]), or(t.counts[True] > 0, True, False)
	default:
		v, decided = boolean(settles == False), 1-settles
	}
	if by := t.values[decided]; by.isAbsent() {
		by.kind, by.detail = kindUnknown, by.missed+by.lack()
		return by
	}
	v = v.of(t.values[:]...)
	v.evidence = evidence{found: true, positive: t.values[decided].positive && !(name == "count" && v.isEmpty())} // a list
	return v
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
	if v.kind == kindArray && v.isAbsent() {
		v = unknown(v.missed + v.lack())
	}
	if v.kind != kindUnknown && v.kind < kindArray {
		if w.nullIsList && v.kind == kindNull {
			return
		}
		v = typeError(subject, v, "is no list")
	}
	if v.kind == kindUnknown {
		if w.problem.detail == "" {
			w.problem = v
		}
		return
	}
	isObject := v.kind == kindObject
	w.objects = w.objects || isObject
	name, label, n := w.name, w.label, 0
	for key, element := range w.each(v) {
		at := strconv.Itoa(n)
		if w.member = isObject; isObject {
			w.name, at = key, preview(key)
			if name != "" {
				w.name = name + "/" + key
			}
		}
		w.label = label + "[" + at + "]"
		n++
		if w.walk(element, steps); w.done {
			break
		}
	}
	w.name, w.label = name, label
}
