package expr

import (
	"fmt"
	"strings"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// An Each is a compiled expression for the elements of an answer. It is immutable and safe
// for concurrent use.
type Each struct {
	list  *Expr // the path, with []
	path  *syntax.Path
	names []string // of the members that lead to the list, nil unless that is all of the path
}

// An Element is an element of an answer.
type Element struct {
	// Name is its key if it is a member of an object, joined by slashes to those of the
	// objects around that. It is "" for an element of a list.
	Name string
	Raw  string // its JSON, a part of the answer unless the expression makes new lists

	valid bool // Raw is known to be JSON
}

// CompileEach compiles the path of a list, such as .items, or of its elements, such as
// .groups[].items[] or .edges[].node. Without [] the path leads to one list, of which
// [Each.Elements] returns the elements; with it, it is read as in jq. The elements of an
// object are its members; those of ".." are the documents of an answer of several. Every
// error is an [*Error].
func CompileEach(source string) (*Each, error) {
	if isJQ(source) {
		return nil, &Error{Source: source, Column: 1, Message: "where the elements are cannot be said in jq",
			Hint: "write the path of the list: .items, or .groups[].items[]"}
	}
	path, err := syntax.ParseEach(source)
	if err != nil {
		return nil, &Error{Source: source, Offset: err.Offset, Column: err.Column, Message: err.Message, Hint: err.Hint}
	}
	return &Each{&Expr{src: source, program: syntax.Program{Root: path}}, path, path.Names()}, nil
}

// String returns the source of the expression.
func (x *Each) String() string { return x.list.src }

// Inner returns the source of the expression for the elements of the elements: "..[][]" for
// "..", of which each document is a list.
func (x *Each) Inner() string {
	source := x.path.Of(x.list.src)
	if !strings.HasPrefix(source, ".") && !strings.HasPrefix(source, "$") {
		source = "." + source
	}
	if last := x.path.Steps[len(x.path.Steps)-1]; last.From == last.To { // [] was added
		source += "[]"
	}
	return source + "[]"
}

// Elements returns the elements in the order of the answer. A null where a list should be
// is an empty list, which some servers write so, and for ".." so is an empty answer. If there
// is no list, problem says why: "the answer has no .items". No member or element is then
// returned.
func (x *Each) Elements(doc *Doc) (elements []Element, problem string) {
	defer func() {
		if p := recover(); p != nil {
			elements, problem = nil, failure(p).words(x.list.src)
		}
	}()
	if x.path.Root == syntax.RootLines && doc.read().problem == emptyBody {
		return nil, ""
	}
	if elements, ok := x.split(doc); ok {
		return elements, ""
	}
	in := x.iteration(doc)
	in.visit = func(_ string, v value) (more bool) {
		switch {
		case v.kind == KindUnknown:
			in.fault = *v.fault
		case v.kind == KindMissing:
			in.fault = fault{code: faultEach, got: KindMissing, subject: x.path.Span}
		default:
			elements = append(elements, Element{Name: in.elementName(), Raw: v.json(), valid: true})
		}
		return in.fault.code == faultNone
	}
	in.follow(in.root(x.path), x.path.Lookups, "")
	if in.fault.code != faultNone {
		return nil, rawjson.OneLine(x.problem(&in.fault, doc))
	}
	return elements, ""
}

// Members reports whether the expression leads through an object, whose members are the
// elements or hold them, even if it has none. With it, whoever has seen a list there can tell
// an object without members, perhaps the body of an error, from an empty list. A null is a
// list, and so is what [Each.Elements] cannot read.
func (x *Each) Members(doc *Doc) (members bool) {
	in := x.iteration(doc)
	defer func() {
		if recover() != nil {
			members = in.objects
		}
	}()
	in.visit = func(string, value) (more bool) { return !in.objects }
	in.follow(in.root(x.path), x.path.Lookups, "")
	return in.objects
}

// iteration goes through the elements of an answer.
func (x *Each) iteration(doc *Doc) *iteration {
	e := newEvaluator(x.list, &Env{Doc: doc})
	return &iteration{evaluator: &e, path: x.path, listed: true}
}

// split reads the elements of a plain list while the document is checked. If it reports false,
// nothing is known.
func (x *Each) split(doc *Doc) (elements []Element, ok bool) {
	if x.names == nil || doc == nil {
		return nil, false
	}
	const most = 1 << 13 // of the elements for which there is room before they are known
	ok = rawjson.Split(doc.text, x.names, func(element string) {
		if elements == nil {
			elements = make([]Element, 0, min(len(doc.text)/len(element)+1, most))
		}
		elements = append(elements, Element{Raw: element, valid: true})
	})
	if ok && !doc.part {
		doc.once.Do(doc.takeOne)
	}
	return elements, ok
}

// elementName is the name of the element that is visited.
func (in *iteration) elementName() string {
	if !in.member {
		return ""
	}
	return in.name
}

// problem says why the elements cannot be read.
func (x *Each) problem(f *fault, doc *Doc) string {
	list := strings.TrimSpace(f.subject.Of(x.list.src))
	switch {
	case f.code == faultDocument && doc.read().count > 1:
		return fmt.Sprintf("the body holds %d JSON documents: .. are its documents", doc.count)
	case f.code == faultEach && f.got == KindMissing:
		return x.missing(f.subject, doc)
	case f.code == faultEach && list == "":
		return "the answer is " + f.got.noun() + ", not a list"
	}
	return f.words(x.list.src)
}

// missing says that a path leads nowhere, and what may have been meant.
func (x *Each) missing(path syntax.Span, doc *Doc) string {
	text := path.Of(x.list.src)
	words := "the answer has no " + text
	if i := strings.LastIndex(strings.TrimSuffix(text, "[]"), "[]"); i >= 0 {
		words = "an element of " + text[:i] + " has no " + text[i+len("[]"):]
	}
	for _, hint := range (Result{expr: x.list, env: &Env{Doc: doc}}).Hints(false) {
		words += "; " + hint
	}
	return words
}

// Doc returns the element as a document, without a copy.
func (e Element) Doc() *Doc {
	if !e.valid {
		return NewDoc([]byte(e.Raw))
	}
	return elementDoc(e.Raw)
}

// ElementDoc returns the document of the JSON of an [Element], which is not checked again.
func ElementDoc(raw []byte) *Doc { return elementDoc(viewString(raw)) }

// Key returns the value of an expression for the element if that can tell elements apart: a
// text that is not empty, or a number as it is written. Otherwise problem says what it is:
// ".id is missing".
func (e Element) Key(x *Expr) (text, problem string) {
	v := e.eval(x).Value()
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

// noEnv offers nothing; it is never changed.
var noEnv = &Env{}

// eval evaluates an expression for the element alone.
func (e Element) eval(x *Expr) (r Result) {
	if !e.valid || x.jq != nil {
		return x.Eval(&Env{Element: e.Doc()})
	}
	r = Result{expr: x, env: noEnv}
	defer func() {
		if p := recover(); p != nil {
			r.value = value{fault: failure(p)}
		}
	}()
	in := newEvaluator(x, noEnv)
	in.enter(parseValue(e.Raw), syntax.Span{})
	r.value = in.value(x.program.Root)
	return r
}
