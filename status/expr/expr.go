// Package expr implements the condition language of poll. An expression is a condition on a single response, or it
// selects a value from the response:
//
//	.state == "done"
//	.status.conditions.#(type=="Ready").status == "True"
//	all(.items[]; .status.phase == "Running") and (.items | length) > 0
//	$status == 503 || $body contains "warming up"
//
// A path with a leading dot has the syntax of jq. A path without a leading dot has the syntax of gjson.
//
// A condition is true, false or unknown, and it matches only if it is true. Types are never converted: "3" is not
// equal to 3. A comparison of values of different types is unknown, except that a comparison with null tests
// whether there is a value of any type. A condition is also unknown where jq would report a runtime error. If the
// response is not JSON, every path is unknown.
// A comparison of a missing or null value is unknown, as in SQL, unless the other side is null or a list that
// contains null. The result of a function for a missing or null value is unknown, too. The operator //, the
// functions exists and has, and the variable $gone also test for absence. A path alone is a condition that is false
// if the value is missing or null. However, a condition that would be true only because something is missing is
// unknown. The same applies to any, all and count if an element decides only because something is missing.
//
// The grammar, from the operator that binds least to the operator that binds most:
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
// An expression that starts with "jq:" is a jq program. As a condition, it is unknown unless it yields true or
// false.
//
// The page docs/conditions.md explains the language with examples.
//
// The package finds values with gjson, and adds the checks that gjson lacks: it checks that a document is valid and
// not nested too deep, applies each step of a path only to values of the right type, and in queries does not compare
// a number or a boolean with a string that is not a number or a boolean.
//
// The files form layers. The code of a file calls only code in its own file and in files above it in this list:
//
//	value       the values of parts of an expression, and their evidence
//	document    a response as JSON
//	env         the variables of an attempt
//	hints       the table of messages and hints, and suggestions for missing members
//	scan        the tokens of a source
//	path        the syntax of paths
//	tree        the syntax tree, the words of operators, and restrictions on operands
//	parse       the grammar
//	jq          jq programs
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
	reads       []string // the inputs that the expression reads, as names for Reads
	isCondition bool     // compiled by Compile, so that the outcome is only true, false or unknown
}

// An Option modifies [Compile] or [CompileValue].
type Option func(*parser)

// WithEnviron returns an option that replaces $ENV.NAME by the value of an environment variable. Compile passes
// the name to lookup, which may be [os.LookupEnv]. If the variable is not set, or if its value is blank, Compile
// returns an error. Without this option, every $ENV is an error. The value never appears in an error, an
// explanation, a note or a hint, but it may be the result of an expression.
func WithEnviron(lookup func(name string) (value string, ok bool)) Option {
	return func(p *parser) { p.environ = lookup }
}

// Compile compiles a condition in the language of this package or, if src starts with "jq:", a jq program. It
// rejects a condition that is always true, such as a list. Every error is an [*Error].
func Compile(src string, opts ...Option) (*Expr, error) { return compile(src, true, opts) }

// CompileValue compiles an expression that is evaluated for its value. Unlike [Compile], it accepts an expression
// whose value is a list, such as items.#(ok==true)#.name. Every error is an [*Error].
func CompileValue(src string, opts ...Option) (*Expr, error) { return compile(src, false, opts) }

// compile implements Compile if isCondition is true, and CompileValue otherwise.
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
		p.start()
		if x.root = p.pipe(); p.pos < len(p.src) {
			p.unexpected()
		}
		if isCondition {
			p.checkCondition(x.root)
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

// Reads reports whether the expression reads at least one of the named inputs. Without names, it reports whether
// the expression reads any input except the environment. The names are:
//
//   - the name of a variable without its $, such as "status"; an expression that reads "output" also reads "stdout" and "stderr"
//   - "ENV" for the environment, whose values may be the result of the expression
//   - "." for the document, and for the element of a list if paths start there
//   - "object" for the same, except that reading the whole document by $json or .. does not count
//   - "json" for the whole document, by $json or ..
//   - "element" for $element
//   - "error members" for paths that start with .error or .errors, and "other members" for all other paths
//   - "[]" for any, all and count, which read the elements of a list
//
// A jq program counts as reading the document if it is able to do so.
func (x *Expr) Reads(names ...string) bool {
	return slices.ContainsFunc(x.reads, func(name string) bool {
		return slices.Contains(names, name) || names == nil && name != "ENV"
	})
}

// Requires returns the only strings that the value of path can be if the condition is true. It returns nil if the
// condition allows other values. For the condition .kind == "Pod" and .spec.nodeName != null, Requires(".kind")
// returns "Pod".
func (x *Expr) Requires(path string) (texts []string) { return x.root.requires(path, x.src) }

// A Result is the outcome of one evaluation of an expression.
type Result struct {
	Tri Tri

	expr      *Expr
	env       *Env
	value     value
	isAbsent  bool // the outcome is Unknown because it would be true only by absence
	abandoned bool
}

// Eval evaluates the expression. It never fails and never panics. If the outcome cannot be decided, it is Unknown.
// For example, .state != "x" is Unknown if .state is missing. A nil env counts as an empty Env. Evaluations with
// equal Envs have equal outcomes, unless env.Context is done or a jq program reads the clock.
func (x *Expr) Eval(env *Env) Result {
	if env == nil {
		env = new(Env)
	}
	r := Result{expr: x, env: env}
	r.value, r.abandoned = guarded(func() value { return x.evaluator(env).eval(x.root) })
	if v := &r.value; x.isCondition && v.mayMeanFalse() {
		*v = v.undecided()
	} else if r.isAbsent = x.isCondition && v.truth() == True && v.isAbsent(); r.isAbsent {
		v.kind, v.detail = kindUnknown, v.missed+v.absence()
	}
	r.Tri = r.value.truth()
	return r
}

func (x *Expr) evaluator(env *Env) *evaluator {
	return &evaluator{src: x.src, env: env, steps: new(int)}
}

// guarded calls evaluate, and returns its result. If evaluate panics, the result is an unknown value. isAbandoned
// is true if the context ended the evaluation.
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

// Affirmed reports whether the condition is true because of a value in the response that is not empty: the value
// exists, or a comparison with the value is true. A single affirmed operand that is true is enough for "and" and
// "or". For all, every element must be affirmed.
//
// An empty response meets many conditions that only exclude values. A condition is therefore not affirmed by !=,
// !~ or not, or by an empty string or list, 0, false or null. It is not affirmed by $attempt, $elapsed,
// $unchanged, $name, $gone or a jq program, either.
func (r Result) Affirmed() bool { return r.Matched() && r.value.positive }

// Missing reports whether the outcome is Unknown because a value is missing or null.
func (r Result) Missing() bool { return r.value.kind == kindUnknown && r.value.isAbsent() }

// Abandoned reports whether env.Context ended the evaluation. The outcome is then Unknown, and may differ if the
// expression is evaluated again.
func (r Result) Abandoned() bool { return r.abandoned }

// Value returns the value of the expression. For a comparison, the value is a boolean or unknown.
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

// An Explanation explains the outcome of an evaluation to people.
type Explanation struct {
	// Lines has a line for each comparison, or other part, that decided the outcome, in the order of the source,
	// such as `.state is "pending", want == "done"`. Values are cut to 60 characters. Values of headers and of the
	// environment are not shown.
	Lines []string
	// Notes warn about a match that may be a mistake, as in ".items is an empty list, which is true". They also
	// suggest the name of a member if a missing member has a similar name. Notes is empty if the condition did not
	// match.
	Notes []string

	unmet string // the kind of response, and the source of the condition; "" if it matched
	hints hints
}

// Hints returns suggestions for a condition that did not match. The suggestions contain no values. near suggests
// members with names similar to the name of a missing member. others contains all other suggestions.
func (x Explanation) Hints() (near, others []string) {
	if x.unmet == "" {
		return nil, nil
	}
	var variables []string
	for _, line := range x.Lines {
		_, hint, _ := findRow("unmet", line+" -- "+x.unmet)
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

// Explain explains the outcome. It evaluates the expression again to find the values. For the zero Result, it
// returns an empty Explanation.
func (r Result) Explain() (why Explanation) {
	if r.expr == nil {
		return why
	}
	x, v, isAbandoned := r.expr, r.value, r.abandoned
	if !isAbandoned && x.root != nil && x.root.op != opJQ {
		e := x.evaluator(r.env)
		e.hints = &why.hints
		v, isAbandoned = guarded(func() value {
			explainer{evaluator: e, why: &why}.explain(x.root)
			return r.value
		})
	}
	line := func() string { return strings.TrimSpace(x.src) + " is " + v.preview() }
	switch {
	case isAbandoned:
		return Explanation{Lines: []string{v.detail}}
	case r.isAbsent:
		why.Lines = []string{words.OneLine(v.detail)}
	case why.Lines == nil && v.kind == kindUnknown:
		why.Lines = []string{words.OneLine(line() + ": " + v.detail)}
	case why.Lines == nil:
		why.Lines = []string{words.OneLine(line())}
	}
	why.Lines = slices.Compact(why.Lines)
	if why.Notes = slices.Compact(append(why.Notes, why.hints.near...)); r.Tri != True {
		why.Notes, why.unmet = nil, r.env.respondent()+": "+x.src
	}
	return why
}
