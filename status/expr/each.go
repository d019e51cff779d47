package expr

import (
	"context"
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

// An Element is an element of an answer.
type Element struct {
	// Name is its key if it is a member of an object, joined by slashes to those of the
	// objects around that. It is "" for an element of a list.
	Name string
	Raw  string // its JSON, a part of the answer unless the expression makes new lists
}

// CompileEach compiles the path of a list, such as .items, or of its elements, such as
// .groups[].items[] or .edges[].node. Without [] the path leads to one list, of which
// [Each.Elements] returns the elements; with it, it is read as in jq. The elements of an
// object are its members; those of ".." are the documents of an answer of several. Every
// error is an [*Error].
func CompileEach(source string) (x *Each, err error) {
	p := &parser{src: source, list: true}
	defer p.recover(&err)
	p.begin()
	if isJQ(source) || !p.startsPath(p.pos) {
		p.refuse("list path", source[p.pos:], p.pos)
	}
	path := p.path()
	text := source[path.from:path.to]
	if next := p.space(path.to); next < len(source) {
		p.refuse("behind list", text+" "+source[next:], next)
	}
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

// Elements returns the elements in the order of the answer. A null where a list should be
// is an empty list, which some servers write so, and for ".." so is an empty answer. If there
// is no list, problem says why: ".items is missing, and is no list". No element is then
// returned.
//
// ofObject is true if the expression leads through an object, whose members are the elements or
// hold them, even if it has none. Whoever has seen a list there can tell an object without
// members, perhaps the body of an error, from an empty list.
func (x *Each) Elements(doc *Doc) (elements []Element, ofObject bool, problem string) {
	e := &evaluator{src: x.src, env: &Env{Doc: doc}, steps: new(int), hints: &hints{}, nullIsList: true}
	w := &walker{evaluator: e, path: x.path}
	w.visit = func(v value) (more bool) {
		switch {
		case v.kind == KindUnknown:
			w.problem = v
		case v.kind == KindMissing:
			w.problem = unknown(x.src[x.path.from:x.path.to] + " is missing")
		default:
			elements = append(elements, Element{Name: or(w.member, w.name, ""), Raw: v.json()})
		}
		return w.problem.detail == ""
	}
	w.walk(w.root(x.path), x.path.steps)
	switch {
	case w.problem.detail == "":
		return elements, w.objects, ""
	case x.path.root == rootLines && w.problem.detail == emptyBody:
		return nil, false, ""
	}
	return nil, false, words.OneLine(strings.Join(slices.Concat([]string{w.problem.detail}, w.hints.near, w.hints.has), "; "))
}

// Doc returns the element as a document, without a copy.
func (e Element) Doc() *Doc { return ElementDoc([]byte(e.Raw)) }

// Key returns the value of an expression for the element if that can tell elements apart: a
// text that is not empty, or a number as it is written. Otherwise problem says what it is:
// ".id is missing". Once ctx is done, an expression that takes long is abandoned.
func (e Element) Key(ctx context.Context, x *Expr) (text, problem string) {
	v := x.Eval(&Env{Element: e.Doc(), Context: ctx}).Value()
	switch {
	case v.Kind == KindUnknown:
		return "", v.Reason
	case v.Kind == KindString && v.text == "":
		return "", x.src + " is empty"
	case v.Kind == KindString || v.Kind == KindNumber:
		return v.Text(), ""
	}
	return "", x.src + " is " + v.Kind.noun()
}
