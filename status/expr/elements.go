package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// A place is the position of an element, relative to the lists and objects to which a path applies [].
type place struct {
	label    string // the index or key at each level, such as [2] or [0]["a"]
	name     string // the keys alone, separated by slashes
	isMember bool   // the element is a member of an object, and not of a list
}

// A walker visits the elements that a path with [] selects.
type walker struct {
	*evaluator
	path    *path
	visit   func(at place, element value) (more bool)
	problem value // an unknown value that describes the first value that is not a list but should be; the zero value if there is no such value
	objects bool  // a [] was applied to an object
}

// walk follows steps from the value v, which is at the position at. It calls w.visit for each element selected by
// the [] among the steps or, without [], once for the resulting value. It returns false as soon as visit returns
// false. If a value that should be a list is not a list, walk sets w.problem, and continues.
func (w *walker) walk(at place, v value, steps []step) (more bool) {
	i := nextEach(steps)
	if i < 0 {
		return w.visit(at, w.follow(w.path, v, steps))
	}
	list, subject := w.follow(w.path, v, steps[:i]), w.path.before(&steps[i], w.src)
	if w.path.from == w.path.to { // the path is a dot that is not in the source
		subject = w.subject
	}
	switch {
	case list.kind == kindArray && list.isAbsent():
		list = unknown(list.missed + list.absence())
	case list.kind == kindUnknown || list.kind >= kindArray:
	case w.nullIsList && list.kind == kindNull:
		return true
	default:
		list = typeError(subject, list, "is not a list")
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

// A tally combines the outcomes of several conditions by Kleene's three-valued logic. The conditions are either the
// operands of "and" or "or", or the condition of any, all or count, evaluated once for each element.
type tally struct {
	settles Tri      // the outcome that settles the result as soon as one condition has this outcome; Unknown for count
	total   int      // the number of conditions
	counts  [3]int   // the number of conditions with each outcome
	values  [3]value // for each outcome, the value of the first condition, with the evidence of all conditions

	at       place // the position of the element that explains the result: the first element that settles the result, or else the first element
	element  value // the element that explains the result
	decisive Tri   // the outcome of the condition for that element
	whole    value // the result of any, all or count
}

// add adds v, the value of a condition. If an earlier condition had the same outcome, add combines the evidence of
// the two: with evidence.or if the outcome settles the result, and otherwise with join.
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

// addElement adds v, the value of the condition for element, where at is the position of element.
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

// outcome returns the result of any, all or count, after all elements have been added. If the elements could not be
// read completely, problem is an unknown value; otherwise, it is the zero value. outcome returns problem unless an
// element has settled the result. The result is also unknown if the deciding elements would decide only because a
// path is missing.
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
		by.detail = by.missed + by.absence()
		return by
	}
	v = v.derivedFrom(t.values[:]...)
	v.evidence = evidence{ground: onValue, positive: by.positive && !(isCount && v.isEmpty())} // a list was found, so the result does not rest on absence
	return v
}

// An Each is a compiled expression that selects elements of a response: the elements of a list that a user waits
// for, or the objects that a preset evaluates separately. It is immutable and safe for concurrent use.
type Each struct {
	src   string
	paths []*path // alternatives; the first alternative that leads to elements is used
}

// CompileEach compiles the path of a list, such as .items, or a path to the elements of nested lists, such as
// .groups[].items[] or .edges[].node. Without [], the path must lead to a single list, and [Each.Elements] returns
// its elements. With [], the path has the same meaning as in jq. In place of a list there may be an object, whose
// members are then the elements.
//
// The path ".." selects the documents of a response that consists of several JSON documents. If the response is a
// single document, and this document is a list of objects, ".." selects these objects. Every error is an [*Error].
func CompileEach(source string) (*Each, error) { return compileEach(source, true) }

// CompileObjects compiles the path of an object, such as .job, or of several objects, such as .items[]. Alternative
// paths are separated by the operator //. A path is used only if all paths before it lead nowhere. For example,
// .items[] // . selects each item, or the whole response if it has no list of items. Every error is an [*Error].
func CompileObjects(source string) (*Each, error) { return compileEach(source, false) }

// compileEach implements CompileEach if isList is true, and CompileObjects otherwise.
func compileEach(source string, isList bool) (*Each, error) {
	p, x := &parser{src: source, list: true}, &Each{src: source}
	err := p.try(func() {
		p.start()
		for more := true; more; {
			p.rejectIf(isJQ(source) || !p.startsPath(p.pos), "list path", source[p.pos:], p.pos)
			q := p.path()
			p.take(q.to)
			text, hasEach := source[q.from:q.to], nextEach(q.steps) >= 0
			p.rejectIf(q.bare && !isList, "bare object", text, q.from)
			more = !isList && p.accept("//")
			p.rejectIf(!more && p.pos < len(source), "behind list", text+" "+source[p.pos:], p.pos)
			p.rejectIf(q.bare && hasEach, "bare list", text, q.from)
			last := len(q.steps) - 1
			isOne := last >= 0 && (q.steps[last].kind == stepCount || q.steps[last].kind == stepFirst)
			if isList && !hasEach && isOne {
				from := q.steps[last].from
				p.reject("no elements", source[from:q.to], from)
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

// String returns the source of the expression.
func (x *Each) String() string { return x.src }

// Elements returns the elements in the order of the response. Each element is a part of the response, unless the
// expression creates new lists. If null stands in place of a list, it counts as an empty list, because some
// servers write empty lists as null. For the path "..", an empty response counts as an empty list. If there is no
// list, Elements returns no elements, and problem explains why, as in ".items is missing, and is not a list".
//
// ofObject is true if the path leads through an object, so that members of the object are the elements or contain
// the elements. It is true even if the object has no members. A caller that has seen a list at this path before can
// then distinguish an empty list from an object without members, which may be the body of an error response. If the
// expression has several alternatives, only the last alternative may lead through an object.
func (x *Each) Elements(doc *Doc) (elements []*Doc, ofObject bool, problem string) {
	for i, q := range x.paths {
		found, ofObject, why := x.elements(q, doc)
		if why == "" && !(ofObject && i+1 < len(x.paths)) {
			return found, ofObject, ""
		}
		problem = cmp.Or(problem, why)
	}
	return nil, false, cmp.Or(problem, "there is no path to a list") // the zero Each has no paths
}

// elements implements Elements for the single alternative q.
func (x *Each) elements(q *path, doc *Doc) (elements []*Doc, ofObject bool, problem string) {
	e := &evaluator{src: x.src, env: &Env{Doc: doc}, steps: new(int), hints: &hints{ofList: true}, nullIsList: true}
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

// onlyList returns the only element of documents if there is exactly one element, and if that element is an empty
// list or a list of objects. Some programs print either a list or JSON lines, depending on their version. Otherwise,
// onlyList returns documents, because a document of JSON lines may itself be a list.
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
