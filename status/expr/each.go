package expr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// An Each is a compiled expression for the elements of an answer. It is immutable and safe
// for concurrent use.
type Each struct {
	src  string
	path *path // with []
}

// CompileEach compiles the path of a list, such as .items, or of its elements, such as
// .groups[].items[] or .edges[].node. Without [] the path leads to one list, of which
// [Each.Elements] returns the elements; with it, it is read as in jq. The elements of an
// object are its members. The elements of ".." are the documents of a response. If the only document
// is a list of objects, the objects are the elements. Every error is an [*Error].
func CompileEach(source string) (x *Each, err error) {
	p := &parser{src: source, list: true}
	defer p.recover(&err)
	p.begin()
	p.refuseIf(isJQ(source) || !p.startsPath(p.pos), "list path", source[p.pos:], p.pos)
	path := p.path()
	text := source[path.from:path.to]
	next := p.space(path.to)
	p.refuseIf(next < len(source), "behind list", text+" "+source[next:], next)
	if each := path.eachStep(); each != nil && path.bare {
		p.fail(path.from, "write ."+text, "a path with [] begins with a dot")
	} else if each != nil {
		return &Each{source, path}, nil
	}
	if n := len(path.steps); n > 0 && (path.steps[n-1].kind == stepCount || path.steps[n-1].kind == stepFirst) {
		last := path.steps[n-1].from
		p.refuse("no elements", source[last:path.to], last)
	}
	path.steps = append(path.steps, step{from: path.to, to: path.to, kind: stepEach, bracket: true})
	return &Each{source, path}, nil
}

// String returns the source of the expression.
func (x *Each) String() string { return x.src }

// Elements returns the elements in the order of the answer, each as a document that is a part
// of it unless the expression makes new lists. A null where a list should be
// is an empty list, which some servers write so, and for ".." so is an empty answer. If there
// is no list, problem says why: ".items is missing, and is no list". No element is then
// returned.
//
// ofObject is true if the expression leads through an object, whose members are the elements or
// hold them, even if it has none. Whoever has seen a list there can tell an object without
// members, perhaps the body of an error, from an empty list.
func (x *Each) Elements(doc *Doc) (elements []*Doc, ofObject bool, problem string) {
	e := &evaluator{src: x.src, env: &Env{Doc: doc}, steps: new(int), hints: &hints{}, nullIsList: true}
	w := &walker{evaluator: e, path: x.path}
	w.visit = func(v value) (more bool) {
		switch {
		case v.kind == kindUnknown:
			w.problem = v
		case v.kind == kindMissing:
			w.problem = unknown(x.src[x.path.from:x.path.to] + " is missing")
		default:
			elements = append(elements, element(v, or(w.member, w.name, "")))
		}
		return w.problem.detail == ""
	}
	root := w.root(x.path)
	if x.path.root == rootLines && len(x.path.steps) == 1 {
		root = w.onlyList(root)
	}
	w.walk(root, x.path.steps)
	switch {
	case w.problem.detail == "":
		return elements, w.objects, ""
	case x.path.root == rootLines && w.problem.detail == emptyBody:
		return nil, false, ""
	}
	return nil, false, words.OneLine(strings.Join(slices.Concat([]string{w.problem.detail}, w.hints.near, w.hints.has), "; "))
}

// onlyList returns the only document if it is a list of objects, or an empty list. Otherwise it returns all
// documents: a line of JSON lines may be a list, too. Some programs print a list or JSON lines, depending on the version.
func (w *walker) onlyList(documents value) value {
	only := w.at(documents, 0)
	if only.kind != kindArray || w.at(documents, 1).kind != kindMissing {
		return documents
	}
	for _, element := range w.each(only) {
		if element.kind != kindObject {
			return documents
		}
	}
	return only
}

// Objects is a compiled expression for the objects of an answer, each of which is judged by itself. It is
// immutable and safe for concurrent use.
type Objects struct {
	src   string
	paths []*Each // the first that leads to something counts
}

// CompileObjects compiles the path of an object, such as .job, or of several, such as .items[]. After //
// comes another, for an answer where the one before leads nowhere: .items[] // . is each of the items,
// and an answer without a list of items. Every error is an [*Error].
func CompileObjects(source string) (x *Objects, err error) {
	p := &parser{src: source, list: true}
	defer p.recover(&err)
	p.begin()
	x = &Objects{src: source}
	for more := true; more; {
		p.refuseIf(isJQ(source) || !p.startsPath(p.pos), "list path", source[p.pos:], p.pos)
		path := p.path()
		if path.bare {
			p.fail(path.from, "write ."+source[path.from:path.to], "a path begins with a dot")
		}
		if path.root == rootLines && path.eachStep() == nil {
			path.steps = append(path.steps, step{from: path.to, to: path.to, kind: stepEach, bracket: true})
		}
		x.paths = append(x.paths, &Each{source, path})
		p.take(path.to)
		more = p.accept("//")
		p.refuseIf(!more && p.pos < len(source), "behind list", source[path.from:path.to]+" "+source[p.pos:], p.pos)
	}
	return x, nil
}

// Has reports whether a path is one of the alternatives.
func (x *Objects) Has(path string) bool {
	for _, one := range x.paths {
		if x.src[one.path.from:one.path.to] == path {
			return true
		}
	}
	return false
}

// Of returns the objects of a document in its order. If there is none, problem says why: ".items is
// missing". The members of an object are no list where another path follows.
func (x *Objects) Of(doc *Doc) (objects []*Doc, problem string) {
	for i, path := range x.paths {
		found, ofObject, why := path.Elements(doc)
		if why == "" && !(ofObject && i+1 < len(x.paths)) {
			return found, ""
		}
		problem = cmp.Or(problem, strings.TrimSpace(why))
	}
	return nil, problem
}
