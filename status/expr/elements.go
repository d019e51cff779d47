package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// A place is the place of an element in the lists and objects that the [] of a path lead through.
type place struct {
	label    string // the indexes and keys: [2] or [0]["a"]
	name     string // the keys, joined by slashes
	isMember bool   // the element is a member of an object
}

// A walker visits the elements that the [] of a path lead to.
type walker struct {
	*evaluator
	path    *path
	visit   func(at place, element value) (more bool)
	problem value // the first value that should have been a list, unknown
	objects bool  // a [] was that of an object
}

// walk takes steps from a value at a place, and visits each of the elements if a step is []. It reports whether visit
// wants more elements.
func (w *walker) walk(at place, v value, steps []step) (more bool) {
	i := nextEach(steps)
	if i < 0 {
		return w.visit(at, w.follow(w.path, v, steps))
	}
	list, subject := w.follow(w.path, v, steps[:i]), w.path.before(&steps[i], w.src)
	if w.path.from == w.path.to { // unwritten
		subject = w.subject
	}
	switch {
	case list.kind == kindArray && list.isAbsent():
		list = unknown(list.missed + list.lack())
	case list.kind == kindUnknown || list.kind >= kindArray:
	case w.nullIsList && list.kind == kindNull:
		return true
	default:
		list = typeError(subject, list, "is no list")
	}
	if list.kind == kindUnknown {
		w.problem = cmp.Or(w.problem, list)
		return true
	}
	n, isObject := 0, list.kind == kindObject
	w.objects = w.objects || isObject
	for key, element := range w.each(list) {
		here := place{label: at.label + "[" + strconv.Itoa(n) + "]", name: at.name, isMember: isObject}
		if isObject {
			here.label = at.label + "[" + preview(key) + "]"
			here.name = strings.TrimPrefix(at.name+"/"+key, "/")
		}
		if !w.walk(here, element, steps[i+1:]) {
			return false
		}
		n++
	}
	return true
}

// A tally joins the outcomes of conditions by Kleene's logic: those of the operands of "and" and "or", and those of the
// elements of any, all and count.
type tally struct {
	settles Tri      // the outcome of one condition that settles the whole; Unknown for count
	total   int      // conditions
	counts  [3]int   // by outcome
	values  [3]value // by outcome: the first condition, with the evidence of all

	at       place // of the element that explains the whole: the first that settles it, or else the first
	element  value
	decisive Tri // the outcome for the element
	whole    value
}

// add adds the value of a condition. join joins the evidence of conditions of which one does not settle the
// whole.
func (t *tally) add(v value, join func(a, b evidence) evidence) {
	outcome := v.truth()
	all := &t.values[outcome]
	t.total++
	if t.counts[outcome]++; t.counts[outcome] == 1 {
		*all = v
		return
	}
	if outcome == t.settles {
		join = evidence.or
	}
	all.hidden, all.evidence = all.hidden || v.hidden, join(all.evidence, v.evidence)
}

// addElement adds the value of the condition for an element.
func (t *tally) addElement(at place, element, v value) {
	outcome := v.truth()
	isFirst := t.counts[outcome] == 0
	if t.total == 0 || isFirst && outcome == t.settles {
		t.at, t.element, t.decisive = at, element, outcome
	}
	if isFirst && outcome == Unknown {
		v = v.undecided()
		v.detail = words.OneLine(strings.TrimPrefix(at.label+": "+v.detail, ": "))
	}
	t.add(v, evidence.each)
}

// outcome returns the value of any, all or count. It is unknown if an element decided by absence alone. The problem
// decides if no element settles the whole.
func (t *tally) outcome(problem value) (v value) {
	isCount, decisive := t.settles == Unknown, t.settles
	switch {
	case !isCount && t.counts[t.settles] > 0:
		v = boolean(t.settles == True)
	case problem.detail != "":
		return problem
	case t.counts[Unknown] > 0:
		if v = t.values[Unknown]; isCount {
			v.least = t.counts[True]
		}
		return v
	case isCount:
		if v, decisive = integer(t.counts[True]), True; t.counts[True] == 0 {
			decisive = False
		}
	default:
		v, decisive = boolean(t.settles == False), 1-t.settles
	}
	by := t.values[decisive]
	if by.isAbsent() {
		by.kind = kindUnknown
		by.detail = by.missed + by.lack()
		return by
	}
	v = v.derivedFrom(t.values[:]...)
	v.evidence = evidence{ground: onValue, positive: by.positive && !(isCount && v.isEmpty())} // a list was found
	return v
}

// An Each is a compiled expression for the elements of a response, or for the objects of a response that have
// verdicts of their own. It is immutable and safe for concurrent use.
type Each struct {
	src   string
	paths []*path // the first that leads to something counts
}

// CompileEach compiles the path of a list, such as .items, or of its elements, such as
// .groups[].items[] or .edges[].node. Without [] the path must lead to one list, and
// [Each.Elements] returns its elements. With [] the path is read as in jq. The elements of an
// object are its members.
//
// The elements of ".." are the documents of a response. If the only document is a list of objects, the
// objects are the elements. Every error is an [*Error].
func CompileEach(source string) (*Each, error) { return compileEach(source, true) }

// CompileObjects compiles the path of an object, such as .job, or of several, such as .items[]. After //
// comes another path, for a response in which the path before // leads nowhere: .items[] // . is each of the items,
// and a response without a list of items. Every error is an [*Error].
func CompileObjects(source string) (*Each, error) { return compileEach(source, false) }

func compileEach(source string, isList bool) (*Each, error) {
	p, x := &parser{src: source, list: true}, &Each{src: source}
	err := p.try(func() {
		p.begin()
		for more := true; more; {
			p.rejectIf(isJQ(source) || !p.startsPath(p.pos), "list path", source[p.pos:], p.pos)
			q := p.path()
			p.take(q.to)
			text, hasEach := source[q.from:q.to], nextEach(q.steps) >= 0
			p.rejectIf(q.bare && !isList, "bare object", text, q.from)
			more = !isList && p.accept("//")
			p.rejectIf(!more && p.pos < len(source), "behind list", text+" "+source[p.pos:], p.pos)
			p.rejectIf(q.bare && hasEach, "bare list", text, q.from)
			if isList && !hasEach {
				p.rejectOne(q)
			}
			if !hasEach && (isList || q.root == "..") {
				q.steps = append(q.steps, step{kind: stepEach, from: q.to, to: q.to})
			}
			x.paths = append(x.paths, q)
		}
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// rejectOne rejects a path to a count, or to the first of some elements.
func (p *parser) rejectOne(q *path) {
	if last := len(q.steps) - 1; last >= 0 && (q.steps[last].kind == stepCount || q.steps[last].kind == stepFirst) {
		from := q.steps[last].from
		p.reject("no elements", p.src[from:q.to], from)
	}
}

// String returns the source of the expression.
func (x *Each) String() string { return x.src }

// Elements returns the elements in the order of the response. Each is a document that is a part of the response
// unless the expression makes new lists. A null where a list should be is an empty list, since some servers write
// empty lists so. For "..", an empty response is an empty list. If there is no list, Elements returns no elements,
// and problem is the reason: ".items is missing, and is no list".
//
// ofObject is true if the expression leads through an object, whose members are the elements or hold the elements,
// even if the object has no members. A caller that has seen a list there can distinguish an object without
// members, which may be the body of an error, from an empty list. If another alternative follows, the members of an
// object are not a list.
func (x *Each) Elements(doc *Doc) (elements []*Doc, ofObject bool, problem string) {
	for i, q := range x.paths {
		found, ofObject, why := x.elements(q, doc)
		if why == "" && !(ofObject && i+1 < len(x.paths)) {
			return found, ofObject, ""
		}
		problem = cmp.Or(problem, why)
	}
	return nil, false, problem
}

func (x *Each) elements(q *path, doc *Doc) (elements []*Doc, ofObject bool, problem string) {
	e := &evaluator{src: x.src, env: &Env{Doc: doc}, steps: new(int), hints: &hints{}, nullIsList: true}
	w := &walker{evaluator: e, path: q}
	w.visit = func(at place, v value) (more bool) {
		switch {
		case v.kind == kindUnknown:
			w.problem = v
		case v.kind == kindMissing:
			w.problem = unknown(x.src[q.from:q.to] + " is missing")
		case at.isMember:
			elements = append(elements, newElement(v, at.name))
		default:
			elements = append(elements, newElement(v, ""))
		}
		return w.problem.detail == ""
	}
	root := e.root(q)
	if q.root == ".." && len(q.steps) == 1 {
		root = e.onlyList(root)
	}
	w.walk(place{}, root, q.steps)
	switch {
	case w.problem.detail == "":
		return elements, w.objects, ""
	case q.root == ".." && w.problem.detail == emptyBody:
		return nil, false, ""
	}
	reasons := slices.Concat([]string{w.problem.detail}, e.hints.near, e.hints.has)
	return nil, false, words.OneLine(strings.Join(reasons, "; "))
}

// onlyList returns the only document if it is a list of objects, or an empty list. Otherwise it returns all
// documents: a line of JSON lines may be a list, too. Some programs print a list or JSON lines, depending on the version.
func (e *evaluator) onlyList(documents value) value {
	only := e.member(documents, "0")
	if only.kind != kindArray || e.member(documents, "1").kind != kindMissing {
		return documents
	}
	for _, element := range e.each(only) {
		if element.kind != kindObject {
			return documents
		}
	}
	return only
}
