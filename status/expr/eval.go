package expr

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// An evaluator evaluates one expression for one environment. Copies of it evaluate the parts; a
// copy may have another "." and another account.
type evaluator struct {
	src     string
	env     *Env
	inner   bool   // "." is dot, not the document
	dot     value  // what "." is
	subject string // the source of dot, if it comes from a pipe

	steps      *int     // taken since the context was looked at
	why        *account // explains the condition that is evaluated, nil to explain nothing
	prefix     string   // of each line: the source of the value that is piped in, ".status | "
	negated    bool     // the condition is to be false
	hints      *hints   // notes the paths that lead nowhere, nil for none
	nullIsList bool     // a null is an empty list
}

// abandoned is the panic of an evaluation that its context ends.
type abandoned struct{}

// check abandons an evaluation whose context is done. It looks every 1000 steps; one that goes through
// kilobytes counts as so many. So a short evaluation is never abandoned.
func (e *evaluator) check(bytes int) {
	const every = 1000
	if *e.steps += 1 + bytes>>10; *e.steps < every {
		return
	}
	if *e.steps = 0; e.env.Context != nil && e.env.Context.Err() != nil {
		panic(abandoned{})
	}
}

// text is the source of a node, which may be a dot that is not written.
func (e *evaluator) text(n *node) string { return cmp.Or(n.text(e.src), ".") }

// current is the value of ".".
func (e *evaluator) current() value {
	if e.inner {
		return e.dot
	}
	v := e.env.dot().value()
	v.positive = !v.isEmpty()
	return v
}

// eval evaluates a node. It is a condition where the evaluator explains it, and else an
// operand.
func (e *evaluator) eval(n *node) (v value) {
	e.check(0)
	switch n.op {
	case opNot:
		return e.not(n.kids[0])
	case opAnd, opOr:
		return e.logic(n)
	case opCompare:
		return e.compare(n)
	case opPipe:
		return e.pipe(n)
	case opLiteral:
		v = n.literal
	case opPath:
		v = e.walk(n.path)
	case opVariable:
		v = e.env.read(n.name, n.field, e.text(n))
	case opAlternative:
		if v = e.unhinted().eval(n.kids[0]); v.truth() == False {
			v = e.unhinted().eval(n.kids[1])
		}
	case opCall:
		if isOneOf(n.name, " any all count ") {
			return e.quantify(n)
		}
		v = e.call(n)
	}
	e.sayTruth(n, v)
	return v
}

// read reads a variable, which is unknown if there was no answer.
func (env *Env) read(name, field, source string) value {
	v, _ := env.variable(name, field)
	if v.kind == kindMissing && env.Error != "" {
		return env.Doc.value()
	}
	if v.kind == kindMissing {
		v.missed = source
	}
	v.positive = !v.isEmpty() && !isOneOf(name, " attempt elapsed unchanged name gone ")
	return v
}

// silent returns the evaluator for an operand, which is not explained by itself.
func (e *evaluator) silent() *evaluator {
	if e.why == nil {
		return e
	}
	inner := *e
	inner.why = nil
	return &inner
}

// unhinted returns the evaluator for a value that may be missing on purpose.
func (e *evaluator) unhinted() *evaluator {
	inner := *e.silent()
	inner.hints = nil
	return &inner
}

// with returns the evaluator for which another value is ".", which comes from subject.
func (e *evaluator) with(dot value, subject string) *evaluator {
	inner := *e
	inner.inner, inner.dot, inner.subject = true, dot, subject
	return &inner
}

func (e *evaluator) not(x *node) value {
	inner := *e
	inner.negated = !e.negated
	v := inner.eval(x)
	if v.truth() == Unknown {
		return v.undecided()
	}
	return boolean(v.truth() == False).of(v)
}

// logic is Kleene's: one false settles "and", one true settles "or", and otherwise an unknown
// operand leaves the whole unknown. What is settled by nothing but missing paths may be settled
// better by a later operand.
func (e *evaluator) logic(n *node) value {
	settles := or(n.op == opOr, True, False)
	var by [3]value // what the operands of an outcome are together, of Unknown the first
	var has [3]bool
	var outcomes []Tri
	for _, kid := range n.kids {
		v := e.silent().eval(kid)
		outcome := v.truth()
		if e.why != nil {
			outcomes = append(outcomes, outcome)
		}
		switch all := &by[outcome]; {
		case !has[outcome]:
			*all, has[outcome] = v, true
		case outcome == settles:
			all.hidden, all.evidence = all.hidden || v.hidden, all.evidence.either(v.evidence, false)
		case outcome != Unknown:
			*all = all.of(v)
		}
		if outcome == settles && e.why == nil && !v.isAbsent() && (v.positive || settles == False) {
			break
		}
	}
	e.sayOperands(n, outcomes)
	switch {
	case has[settles]:
		return boolean(settles == True).of(by[settles])
	case has[Unknown]:
		return by[Unknown].undecided()
	}
	return boolean(settles == False).of(by[1-settles])
}

// pipe evaluates the right side with the value of the left one as ".".
func (e *evaluator) pipe(n *node) value {
	left, right := n.kids[0], n.kids[1]
	isFunction := right.op == opCall && !isOneOf(right.name, " any all count exists ")
	if isFunction && right.name == "not" {
		return e.not(left)
	}
	v := e.silent().eval(left)
	if v.kind == kindUnknown {
		e.sayUnknown(left, v)
		return v
	}
	inner := e.with(v, e.text(left))
	if isFunction {
		result := inner.call(right)
		e.sayTruth(n, result)
		return result
	}
	end := left.to + strings.IndexByte(e.src[left.to:], '|')
	inner.prefix += strings.TrimSpace(e.src[n.from:end]) + " | "
	return inner.eval(right)
}

func (e *evaluator) compare(n *node) value {
	left, right := n.kids[0], n.kids[1]
	operands := e.silent()
	if e.asksForNull(left, left.literal) || e.asksForNull(right, right.literal) {
		operands = e.unhinted()
	}
	a := operands.eval(left)
	if a.least > 0 && n.sign[0] == '>' && right.op == opLiteral {
		least := integer(a.least)
		least.found = true
		if enough, _ := e.compareValues(n, least, right.literal); enough { // whatever the other elements are
			a = least
		}
	}
	if a.kind == kindUnknown {
		e.sayUnknown(left, a)
		return a
	}
	b := operands.eval(right)
	if b.kind == kindUnknown {
		e.sayUnknown(right, b)
		return b
	}
	holds, problem := e.compareValues(n, a, b)
	onPurpose := e.asksForNull(left, a) || e.asksForNull(right, b)
	if !onPurpose && (a.isNothing() || b.isNothing()) {
		return e.compareAbsent(n, a, b, holds)
	}
	isThere := holds && isOneOf(n.sign, " contains =~ "+or(a.partial == "end", "endswith ", or(a.partial == "beginning", "startswith ", "")))
	if partial := or(isThere, b.partial, cmp.Or(a.partial, b.partial)); partial != "" {
		problem = cmp.Or(problem, onlyKept(partial))
	}
	if problem == needsAlike {
		e.sayComparison(n, a, b, Unknown)
		return typeError(e.text(left), a, n.sign+" "+problem)
	}
	if problem != "" {
		return e.compareUnlike(n, problem, a, b)
	}
	for _, side := range []*value{&a, &b} {
		if onPurpose && side.isNull() {
			side.missed, side.lacks = "", false
		}
	}
	v := boolean(holds).of(a, b)
	v.positive = v.positive && holds == (n.sign[0] != '!')
	e.sayComparison(n, a, b, or(holds, True, False))
	return v
}

// compareAbsent is the value of a comparison with a missing or null value, which is unknown as in SQL.
// holds says how it would come out for a null.
func (e *evaluator) compareAbsent(n *node, a, b value, holds bool) value {
	side, nothing := n.kids[0], a
	if !a.isNothing() {
		side, nothing = n.kids[1], b
	}
	v := unknown(cmp.Or(nothing.missed, e.text(side)) + nothing.lack())
	v.missed = e.text(side)
	if holds != e.negated {
		e.hintAtNull(v)
	}
	if a.isNull() {
		e.sayComparison(n, a, b, Unknown)
	} else {
		e.say(v.detail)
	}
	return v
}

// hintAtNull adds the hint that asks for a missing value.
func (e *evaluator) hintAtNull(v value) {
	if e.hints != nil && !strings.ContainsAny(v.missed, "#|@( ") {
		e.hints.has = append(e.hints.has, "if it may be missing: ("+words.OneLine(v.missed)+" // null)")
	}
}

// asksForNull reports whether the value of a node is a null, or a list in which null is, that is
// written in the condition: also by // null, if its left side is missing.
func (e *evaluator) asksForNull(n *node, v value) bool {
	for n.op == opAlternative {
		n = n.kids[1]
	}
	if n.op != opLiteral || v.kind != n.literal.kind {
		return false
	}
	hasNull, _ := e.has(v, missing())
	return v.kind == kindNull || v.kind == kindArray && hasNull
}

// compareUnlike is the value of a comparison of two known values that do not go together.
func (e *evaluator) compareUnlike(n *node, problem string, a, b value) value {
	side, v := e.text(n.kids[0]), a
	if n.sign == "in" || problem == needsText && a.kind == kindString || problem == needsOrder && n.kids[0].op == opLiteral {
		side, v = e.text(n.kids[1]), b
	}
	problem = n.sign + " " + problem
	e.say(fmt.Sprintf("%s is %s (%s): %s", side, v.preview(), v.kind.noun(), problem))
	return typeError(side, v, problem)
}

// call applies a function to ".", or to its path.
func (e *evaluator) call(n *node) value {
	if n.name == "exists" {
		return e.exists(n.kids[0])
	}
	v := e.current()
	if v.kind == kindUnknown {
		return v
	}
	result, problem := e.apply(n, v)
	switch {
	case v.partial != "":
		problem = onlyKept(v.partial)
	case v.isNothing() && n.name != "has":
		problem = needsValue
	}
	if problem != "" {
		result = typeError(e.subject, v, e.text(n)+" "+problem)
	}
	result = result.of(v)
	result.positive = result.positive && !(n.name == "has" && result.isEmpty())
	return result
}

// exists tells null from missing. A path that cannot be followed because of a wrong type does not
// exist; without a readable document, or an answer, the result is unknown.
func (e *evaluator) exists(n *node) value {
	v := e.unhinted().eval(n)
	if v.kind == kindUnknown && (n.op != opPath || e.root(n.path).kind == kindUnknown) {
		return v
	}
	is := boolean(v.kind > kindMissing)
	is.positive = v.positive
	return is
}
