package expr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/pollcli/poll/internal/words"
)

// An Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	src       string
	root      *node
	jq        *gojq.Code // instead of root, of a program in jq
	variables []string   // that such a program reads
	reads     []string   // see Reads
	condition bool       // it was compiled as one
}

// An Option is an option for Compile and CompileValue.
type Option func(*parser)

// WithEnviron lets an expression name variables of the environment, as $ENV.NAME. lookup,
// such as [os.LookupEnv], finds a variable. It is called while the expression is compiled.
// A variable that is not set, or empty, is an error, and so is $ENV without this option. The value
// is never shown: not in an error, an explanation, a note or a hint. But an expression may yield it.
func WithEnviron(lookup func(name string) (value string, ok bool)) Option {
	return func(p *parser) { p.environ = lookup }
}

// Compile compiles a condition: of the language of this package or, if it begins with
// "jq:", of jq. A condition that is always true, such as a list, is an
// error. Every error is an [*Error].
func Compile(src string, opts ...Option) (*Expr, error) { return compile(src, true, opts) }

// CompileValue compiles an expression for its value. It accepts conditions, and also
// lists: items.#(ok==true)#.name. Every error is an [*Error].
func CompileValue(src string, opts ...Option) (*Expr, error) { return compile(src, false, opts) }

func compile(src string, condition bool, opts []Option) (x *Expr, err error) {
	p := &parser{src: src}
	for _, option := range opts {
		option(p)
	}
	defer p.recover(&err)
	x = &Expr{src: src, condition: condition}
	if isJQ(src) {
		x.jq, x.variables = p.jq(condition)
	} else {
		p.begin()
		if x.root = p.pipe(); p.pos < len(p.src) {
			p.unexpected()
		}
		if condition {
			p.condition(x.root)
		}
	}
	x.reads = p.reads
	return x, nil
}

// String returns the source of the expression.
func (x *Expr) String() string { return x.src }

// Reads reports whether the expression reads any of the named things. A variable is named
// without its $: "status". An expression that reads "output" reads "stdout" and "stderr", too. "ENV" is the environment, whose values the expression may yield.
// "error members" are paths that begin at .error or .errors, "other members" all other paths.
// "." is the document, or the element of it that a path begins at; "object" is the same without
// "json", the whole document, $json or ..; "element" is $element; and "[]" stands for any, all and
// count, which read the elements of a list. A program in jq that may read the document counts as
// reading it. Without names, Reads reports whether the expression reads anything but the environment.
func (x *Expr) Reads(names ...string) bool {
	return slices.ContainsFunc(x.reads, func(name string) bool {
		return slices.Contains(names, name) || names == nil && name != "ENV"
	})
}

// Requires returns the texts of which the value of a path such as .kind has to be one if
// the condition is true, or nil if it may be any: of .kind == "Pod" and .spec.nodeName !=
// null it is "Pod".
func (x *Expr) Requires(path string) (texts []string) {
	nodes := []*node{x.root}
	for i := 0; i < len(nodes) && texts == nil; i++ {
		n := nodes[i]
		switch {
		case n == nil:
		case n.op == opAnd:
			nodes = append(nodes, n.kids...)
		case n.op != opCompare || n.kids[0].op != opPath || n.kids[1].op != opLiteral || n.kids[0].text(x.src) != path:
		case n.sign == "==" && n.kids[1].literal.kind == kindString:
			texts = []string{n.kids[1].literal.str}
		case n.sign == "in":
			err := json.Unmarshal([]byte(n.kids[1].literal.raw), &texts)
			if err != nil || slices.Contains(texts, "") { // it holds something else, or a null
				texts = nil
			}
		}
	}
	return texts
}

// An Error says why an expression does not compile.
type Error struct {
	Source  string // the expression
	Offset  int    // where in Source, in bytes from 0; at most len(Source)
	Column  int    // the same in characters from 1, for a caret
	Message string // what is wrong: "done is not quoted"
	Hint    string // what to write instead, "" if unknown
}

// Error returns the column and the message, without the hint.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// A Result is the outcome of one evaluation.
type Result struct {
	Tri Tri

	expr      *Expr
	env       *Env
	value     value
	abandoned bool
}

// Eval evaluates the expression. It never fails and never panics: what cannot be decided
// is Unknown, such as .state != "x" without a .state. It reads only env, so except for the context
// it is a pure function; a nil env is an empty one. A program in jq can read the clock.
func (x *Expr) Eval(env *Env) Result {
	if env == nil {
		env = new(Env)
	}
	r := Result{expr: x, env: env}
	r.value, r.abandoned = x.evaluate(&evaluator{src: x.src, env: r.env, steps: new(int)})
	r.Tri = r.value.truth()
	return r
}

// evaluate returns the value, which is unknown if there was no time left for it.
func (x *Expr) evaluate(e *evaluator) (v value, gaveUp bool) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case abandoned:
			v, gaveUp = unknown("the evaluation took longer than the attempt may"), true
		default:
			v = unknown(fmt.Sprintf("poll failed to evaluate it, which is a defect of poll: %v", p))
		}
	}()
	if x.jq != nil {
		return e.jq(x), false
	}
	switch v = e.eval(x.root); {
	case !x.condition:
	case v.saysNo():
		v = v.undecided()
	case v.truth() == True && v.isAbsent():
		v.kind, v.detail = kindUnknown, v.missed+v.lack()
		e.hintAtNull(v)
		if e.why != nil {
			e.why.lines = []string{words.OneLine(v.detail)}
		}
	}
	return v, false
}

// Matched reports whether the condition is true.
func (r Result) Matched() bool { return r.Tri == True }

// Affirmed reports whether the condition is true because of something that the response holds: a value that
// is not empty is there, or is equal to, in, matches, contains or is ordered as the condition has it. A
// condition that only !=, !~ or not makes true, or an empty text or list, 0, false or null, is not affirmed:
// no response at all meets most of these. Of "and" one operand is enough, of "or" a true operand, and of all
// each element. $attempt, $elapsed, $unchanged, $name and $gone affirm nothing, and neither does a program in jq.
func (r Result) Affirmed() bool { return r.Matched() && r.value.positive }

// Missing reports whether the outcome is Unknown because something is missing or null.
func (r Result) Missing() bool { return r.value.kind == kindUnknown && r.value.isAbsent() }

// Abandoned reports whether there was no time left to evaluate the expression. Nothing is
// known then, and it may be evaluated again.
func (r Result) Abandoned() bool { return r.abandoned }

// Value returns the value of the expression; for a comparison it is true or false.
func (r Result) Value() Value {
	v := Value{Type: r.value.kind.String()}
	switch r.value.kind {
	case kindUnknown:
		v.Reason = words.OneLine(r.value.detail)
	case kindMissing:
		v.Reason = words.OneLine(r.expr.src) + " is missing"
	default:
		v.Raw, v.text = r.value.json(), r.value.str
	}
	return v
}

// An Explanation says why an outcome is what it is.
type Explanation struct {
	// Lines are one for each comparison or other part that decided, in the order of the source:
	// .state is "pending", want == "done". Values are cut to 60 characters, and those of headers
	// and of the environment are not shown.
	Lines []string
	// Notes list what is odd about a match: ".items is an empty list, which is true", and
	// members whose name resembles that of a missing one. There are none for any other
	// outcome.
	Notes []string

	unmet string // the kind of answer, and the source, unless the condition matched
	hints hints
}

// Hints suggests corrections where there is no match: near are the members whose names resemble
// a missing one, others are all other suggestions. They show no values.
func (x Explanation) Hints() (near, others []string) {
	if x.unmet == "" {
		return nil, nil
	}
	for _, line := range x.Lines {
		if _, hint, _ := findHint("answer", line+" -- "+x.unmet); hint != "" {
			others = append(others, hint)
		}
	}
	switch {
	case len(others) > 0:
		return nil, slices.Compact(others)
	case len(x.hints.near) > 0:
		return slices.Compact(x.hints.near), nil
	}
	return nil, slices.Compact(x.hints.has)
}

// Explain evaluates the expression once more, and explains the outcome.
func (r Result) Explain() Explanation {
	if r.expr == nil {
		return Explanation{}
	}
	x := r.expr
	e := &evaluator{src: x.src, env: r.env, steps: new(int), why: &account{}, hints: &hints{}}
	v := r.value
	if !r.abandoned && x.jq == nil {
		v, r.abandoned = x.evaluate(e)
	}
	switch {
	case r.abandoned:
		return Explanation{Lines: []string{v.detail}}
	case len(e.why.lines) == 0:
		e.why.lines = []string{words.OneLine(strings.TrimSpace(x.src) + " is " + or(v.kind == kindUnknown, "unknown: "+v.detail, v.preview()))}
	}
	why := Explanation{Lines: slices.Compact(e.why.lines)}
	if r.Tri == True {
		why.Notes = slices.Compact(append(e.why.notes, e.hints.near...))
	} else {
		why.unmet, why.hints = r.env.answered()+": "+x.src, *e.hints
	}
	return why
}

func or[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}
