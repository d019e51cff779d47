package expr

import (
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// An Each is a compiled expression for the elements of an answer. It is immutable and safe
// for concurrent use.
type Each struct {
	source string
	list   *Expr // a call that goes through the elements
}

// An Element is an element of an answer.
type Element struct {
	Name string // its key, if it is a member of an object; "" for an element of a list
	Raw  string // its JSON, a part of the answer
}

// Doc returns the element as a document.
func (e Element) Doc() *Doc { return NewDoc([]byte(e.Raw)) }

// CompileEach compiles an expression for a list, such as .items, or for its elements, such
// as .groups[].items[]. The elements of an object are its members; those of ".." are the
// documents of an answer of several. An error is an [*Error].
func CompileEach(source string, opts ...Option) (*Each, error) {
	x, err := Compile("any("+source+"[]; true)", opts...)
	if err != nil {
		return nil, err
	}
	return &Each{source: source, list: x}, nil
}

// String returns the source of the expression.
func (x *Each) String() string { return x.source }

// Elements returns the elements in the order of the answer. If they cannot be read,
// problem says why.
func (x *Each) Elements(doc *Doc) (elements []Element, problem string) {
	env := &Env{Doc: doc}
	e := newEvaluator(x.list, env)
	call := x.list.program.Root.(*syntax.Call)
	fault := e.elements(call, func(_ string, element value) bool {
		elements = append(elements, Element{Raw: element.raw})
		return true
	})
	if fault.code != faultNone {
		return nil, fault.words(x.list.src, doc)
	}
	return elements, ""
}
