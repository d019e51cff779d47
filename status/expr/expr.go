// Package expr is the condition language of poll. An expression is a condition on one response, or a value in it.
//
//	.state == "done"
//	.status.conditions.#(type=="Ready").status == "True"
//	all(.items[]; .status.phase == "Running") and (.items | length) > 0
//	$status == 503 || $body contains "warming up"
//
// A path with a leading dot follows jq; a path without one follows gjson. Types
// are never converted: "3" is not 3. There are three outcomes, true, false and unknown.
// A comparison of values of different types is unknown. A comparison with null tests whether there is a value of
// any type. A runtime error of jq is unknown here, and every path is unknown if the response is not JSON.
// Only true matches.
//
// A comparison or a function of a missing or null value is unknown, as in SQL, unless the value is compared
// with null or with a list that holds null. exists, has, // and $gone test absence, too. A path
// that is missing or null is false as a condition, but a condition that is true by such absence
// alone is unknown. any, all and count are unknown if an element decides by absence.
//
// The grammar, from the loosest operator to the tightest:
//
//	pipe        = alternative { "|" alternative }
//	alternative = or [ "//" alternative ]
//	or          = and { ( "||" | "or" ) and }
//	and         = not { ( "&&" | "and" ) not }
//	not         = "not" not | "!" ( "!" not | operand ) | comparison
//	comparison  = operand [ operator operand ]
//	operator    = "==" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "!~"
//	            | "in" | "contains" | "startswith" | "endswith"
//	operand     = literal | path | variable | function | "(" pipe ")"
//
// An expression that starts with "jq:" is a program in jq. As a condition, a program is true or false, and
// any other value is unknown.
//
// docs/conditions.md shows the language by examples.
//
// gjson finds the values, with precautions: a document is checked before it is read
// (depth and validity), each step is applied only to values of the right type, and
// queries compare text with text.
//
// The files stand above each other, and calls point down. From the bottom:
//
//	value       the values of parts of an expression, and their evidence
//	document    a response as JSON
//	env         the variables of an attempt
//	hints       the table of messages and hints, and suggestions for missing members
//	scan        the tokens of a source
//	path        the syntax of paths
//	tree        the nodes of a parsed expression, and their restrictions
//	parse       the grammar
//	jq          programs in jq
//	walk        the value that a path leads to
//	operators   comparisons of known values
//	elements    the elements of lists: for any, all and count, and for [Each]
//	eval        the value of a node
//	explain     the lines and notes that explain an outcome
//	expr        [Expr], [Result] and [Explanation]
package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// An Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	src         string
	root        *node
	reads       []string // see Reads
	isCondition bool     // Compile made it, and only true, false and unknown are outcomes
}

// An Option is an option for Compile and CompileValue.
type Option func(*parser)

// WithEnviron returns the option that replaces $ENV.NAME by a variable of the environment. Compile calls lookup,
// such as [os.LookupEnv], with the name. A variable that is not set, or empty, is an error. So is $ENV without
// this option. The value never appears in an error, an explanation, a note or a hint. But an expression may yield
// the value.
func WithEnviron(lookup func(name string) (value string, ok bool)) Option {
	return func(p *parser) { p.environ = lookup }
}

// Compile compiles a condition in the language of this package or, after "jq:", in jq. A condition that is
// always true, such as a list, is an error. Every error is an [*Error].
func Compile(src string, opts ...Option) (*Expr, error) { return compile(src, true, opts) }

// CompileValue compiles an expression for its value. Unlike Compile, it also accepts
// lists: items.#(ok==true)#.name. Every error is an [*Error].
func CompileValue(src string, opts ...Option) (*Expr, error) { return compile(src, false, opts) }

func compile(src string, isCondition bool, opts []Option) (*Expr, error) {
	p, x := &parser{src: src}, &Expr{src: src, isCondition: isCondition}
	for _, option := range opts {
		option(p)
	}
	err := p.try(func() {
		if isJQ(src) {
			x.root = p.jq(isCondition)
			return
		}
		p.begin()
		if x.root = p.pipe(); p.pos < len(p.src) {
			p.unexpected()
		}
		if isCondition {
			p.condition(x.root)
		}
	})
	if err != nil {
		err.hintAtJQ()
		return nil, err
	}
	x.reads = p.reads
	return x, nil
}

// String returns the source of the expression.
func (x *Expr) String() string { return x.src }

// Reads reports whether the expression reads any of the named things. Without names, Reads reports whether the
// expression reads anything except the environment. The names are:
//   - a variable without its $, such as "status". An expression that reads "output" also reads "stdout" and "stderr"
//   - "ENV", the environment, whose values the expression may yield
//   - ".", the document, or the element of it that a path begins at
//   - "object", the same without the whole document
//   - "json", the whole document, by $json or ..
//   - "element", by $element
//   - "error members", for paths that begin at .error or .errors, and "other members" for all other paths
//   - "[]", for any, all and count, which read the elements of a list
//
// A program in jq that may read the document counts as reading it.
func (x *Expr) Reads(names ...string) bool {
	return slices.ContainsFunc(x.reads, func(name string) bool {
		return slices.Contains(names, name) || names == nil && name != "ENV"
	})
}

// Requires returns the only texts that the value of a path may be if the condition is true, and nil if there is no
// such limit. For .kind == "Pod" and .spec.nodeName != null, Requires(".kind") returns "Pod".
func (x *Expr) Requires(path string) (texts []string) { return x.root.requires(path, x.src) }

// A Result is the outcome of one evaluation.
type Result struct {
	Tri Tri

	expr      *Expr
	env       *Env
	value     value
	isAbsent  bool // the outcome would be true by absence alone
	abandoned bool
}

// Eval evaluates the expression. It never fails and never panics. An outcome that cannot be decided is Unknown: .state
// != "x" is Unknown if .state is missing. A nil env is an empty Env. Equal Envs have equal outcomes, except if the context
// is done, or if a program in jq reads the clock.
func (x *Expr) Eval(env *Env) Result {
	if env == nil {
		env = new(Env)
	}
	r := Result{expr: x, env: env}
	r.value, r.abandoned = guarded(func() value { return x.evaluator(env).eval(x.root) })
	if v := &r.value; x.isCondition && v.saysNo() {
		*v = v.undecided()
	} else if r.isAbsent = x.isCondition && v.truth() == True && v.isAbsent(); r.isAbsent {
		v.kind, v.detail = kindUnknown, v.missed+v.lack()
	}
	r.Tri = r.value.truth()
	return r
}

func (x *Expr) evaluator(env *Env) *evaluator {
	return &evaluator{src: x.src, env: env, steps: new(int)}
}

// guarded returns the value that a function returns. If the function panics, the value is unknown. isAbandoned is
// true if the context ended the evaluation.
func guarded(evaluate func() value) (v value, isAbandoned bool) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case abandoned:
			v, isAbandoned = unknown("the evaluation took longer than the attempt may"), true
		default:
			v = unknown(fmt.Sprintf("poll failed to evaluate it, which is a defect of poll: %v", p))
		}
	}()
	return evaluate(), false
}

// Matched reports whether the condition is true.
func (r Result) Matched() bool { return r.Tri == True }

// Affirmed reports whether a value of the response makes the condition true: a value that is not empty exists, or
// meets a comparison. For "and" and "or", one affirmed operand that is true is enough. For all, each element has to be
// affirmed. !=, !~, not, and an empty text or list, 0, false or null affirm nothing, since an empty response meets most
// of these conditions. Neither do $attempt, $elapsed, $unchanged, $name, $gone, and a program in jq.
func (r Result) Affirmed() bool { return r.Matched() && r.value.positive }

// Missing reports whether the outcome is Unknown because something is missing or null.
func (r Result) Missing() bool { return r.value.kind == kindUnknown && r.value.isAbsent() }

// Abandoned reports whether the context ended the evaluation. The outcome is then Unknown, and the expression may be
// evaluated again.
func (r Result) Abandoned() bool { return r.abandoned }

// Value returns the value of the expression. The value of a comparison is true, false or unknown.
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

// An Explanation is the explanation of an outcome.
type Explanation struct {
	// Lines are one for each comparison or other part that decided, in the order of the source:
	// .state is "pending", want == "done". Values are cut to 60 characters. Values of headers and
	// of the environment are not shown.
	Lines []string
	// Notes point out an odd match: ".items is an empty list, which is true". They also name members that resemble a
	// missing member. Only a match has notes.
	Notes []string

	unmet string // the kind of response, and the source, unless the condition matched
	hints hints
}

// Hints returns suggestions for a condition that did not match. The suggestions contain no values. near are about
// members whose names resemble a missing member, and others are all other suggestions.
func (x Explanation) Hints() (near, others []string) {
	if x.unmet == "" {
		return nil, nil
	}
	var variables []string
	for _, line := range x.Lines {
		_, hint, _ := findRow("answer", line+" -- "+x.unmet)
		if name := nearVariable(line); name != "" && (hint == "" || !strings.HasPrefix(line, name)) {
			variables = append(variables, "did you mean $"+name+"?")
		}
		if hint != "" {
			others = append(others, hint)
		}
		if _, hint, _ = findRow("absent", line+" -- "+x.unmet); hint != "" {
			x.hints.has = append(x.hints.has, hint)
		}
	}
	switch {
	case others != nil:
		return nil, slices.Compact(append(variables, others...))
	case x.hints.near != nil:
		return slices.Compact(x.hints.near), nil
	}
	return nil, slices.Compact(append(variables, x.hints.has...))
}

// Explain evaluates the expression once more, and explains the outcome.
func (r Result) Explain() (why Explanation) {
	if r.expr == nil {
		return why
	}
	x, v, isAbandoned := r.expr, r.value, r.abandoned
	if !isAbandoned && x.root.op != opJQ {
		e := x.evaluator(r.env)
		e.hints = &why.hints
		v, isAbandoned = guarded(func() value {
			explainer{evaluator: e, why: &why}.explain(x.root)
			return r.value
		})
	}
	switch line := strings.TrimSpace(x.src) + " is " + v.preview(); {
	case isAbandoned:
		return Explanation{Lines: []string{v.detail}}
	case r.isAbsent:
		why.Lines = []string{words.OneLine(v.detail)}
	case why.Lines == nil && v.kind == kindUnknown:
		why.Lines = []string{words.OneLine(line + ": " + v.detail)}
	case why.Lines == nil:
		why.Lines = []string{words.OneLine(line)}
	}
	why.Lines = slices.Compact(why.Lines)
	if why.Notes = slices.Compact(append(why.Notes, why.hints.near...)); r.Tri != True {
		why.Notes, why.unmet = nil, r.env.respondent()+": "+x.src
	}
	return why
}
