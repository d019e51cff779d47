package expr

import (
	"fmt"
	"slices"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// An explainer evaluates an expression again and keeps what decided its outcome.
type explainer struct {
	evaluator
	src    string
	prefix string // the source of what is piped in: ".status | "
	brief  bool   // leave out what is wanted, since the reader sees it
	lines  []string
	notes  []string
}

func (x *explainer) say(format string, args ...any) {
	x.lines = appendNew(x.lines, rawjson.OneLine(x.prefix+fmt.Sprintf(format, args...)))
}

func (x *explainer) note(format string, args ...any) {
	x.notes = appendNew(x.notes, rawjson.OneLine(x.prefix+fmt.Sprintf(format, args...)))
}

func appendNew(lines []string, line string) []string {
	if slices.Contains(lines, line) {
		return lines
	}
	return append(lines, line)
}

// source is the text of a node without parentheses around it.
func (x *explainer) source(n node) string { return ungroup(n).where().of(x.src) }

// unexplained says all that is known of a result when its explanation fails.
func (x *explainer) unexplained(r Result, why fault) {
	switch {
	case r.Tri == Unknown:
		x.say("%s is unknown: %s", x.src, r.value.fault.words(x.src, x.env.Doc))
	case why.code == faultAbandoned:
		x.say("%s is %v; there was no time to find out why", x.src, r.Tri)
	default:
		x.say("%s", why.words(x.src, x.env.Doc))
	}
}

// collect explains a condition; negated tells that its opposite is asked for.
func (x *explainer) collect(n node, negated bool) {
	switch n := ungroup(n).(type) {
	case *negation:
		x.collect(n.x, !negated)
	case *logic:
		x.logic(n, negated)
	case *pipe:
		x.pipe(n, negated)
	case *comparison:
		x.comparison(n, negated)
	case *call:
		x.call(n, negated)
	default:
		x.truth(n, negated)
	}
}

// logic explains the operands that decided: those that are true for a true "or",
// those that are not for an "and" that is not true, and otherwise all of them.
func (x *explainer) logic(n *logic, negated bool) {
	outcomes := make([]Tri, len(n.xs))
	holds := !n.or
	for i, operand := range n.xs {
		outcomes[i] = x.value(operand).truth()
		if (outcomes[i] == True) == n.or {
			holds = n.or
		}
	}
	for i, operand := range n.xs {
		if holds != n.or || (outcomes[i] == True) == n.or {
			x.collect(operand, negated)
		}
	}
}

// pipe explains the last part of a pipe for what comes out of the others.
func (x *explainer) pipe(n *pipe, negated bool) {
	rest, last := n.xs[:len(n.xs)-1], ungroup(n.xs[len(n.xs)-1])
	left := rest[0]
	if len(rest) > 1 {
		left = &pipe{span{n.from, rest[len(rest)-1].where().to}, rest}
	}
	v := x.value(left)
	c, isCall := last.(*call)
	switch {
	case v.kind == KindUnknown:
		x.truth(left, negated)
	case isCall && c.fn == fnNot:
		x.collect(left, !negated)
	case isCall && c.fn != fnAny && c.fn != fnAll && !c.isPredicate():
		x.truth(n, negated)
	default:
		outer := x.enter(v, left.where())
		if isCall && c.isPredicate() {
			x.predicate(c, left, v, negated)
		} else {
			x.piped(left, last, negated)
		}
		x.scope = outer
	}
}

// piped explains what is asked of the value of left.
func (x *explainer) piped(left, n node, negated bool) {
	outer := x.prefix
	x.prefix += left.where().of(x.src) + " | "
	x.collect(n, negated)
	x.prefix = outer
}

// isPredicate reports whether the function says true or false of a value.
func (n *call) isPredicate() bool {
	switch n.fn {
	case fnTest, fnStartsWith, fnEndsWith, fnContains, fnHas, fnIn:
		return true
	}
	return false
}

func (x *explainer) call(n *call, negated bool) {
	switch {
	case n.fn == fnAny || n.fn == fnAll:
		x.quantifier(n)
	case n.isPredicate():
		x.predicate(n, nil, x.current(), negated)
	default:
		x.truth(n, negated)
	}
}

// predicate explains a function that says true or false of v; subject is where
// v comes from, nil for ".".
func (x *explainer) predicate(n *call, subject node, v value, negated bool) {
	name := "."
	if subject != nil {
		name = x.source(subject)
	}
	switch t := x.value(n); {
	case t.kind == KindUnknown:
		x.say("%s is %s (%s): %s", name, v.preview(), v.kind.noun(), x.predicateNeeds(n))
	case (t.truth() == True) != negated:
		x.say("%s is %s", name, v.preview())
	case x.brief:
		x.say("%s is %s", name, v.preview())
	default:
		x.say("%s is %s, want %s", name, v.preview(), wanted(x.source(n), negated))
	}
}

func wanted(source string, negated bool) string {
	if negated {
		return "not " + source
	}
	return source
}

func (x *explainer) predicateNeeds(n *call) string {
	switch n.fn {
	case fnContains:
		return "contains needs text or a list"
	case fnHas:
		return "has needs an object for a key, or a list for a number"
	}
	return x.source(n) + " needs text"
}

// comparison explains "left op right" as something about one of them.
func (x *explainer) comparison(n *comparison, negated bool) {
	left, right := x.value(n.left), x.value(n.right)
	for _, side := range []struct {
		n node
		v value
	}{{n.left, left}, {n.right, right}} {
		if side.v.kind == KindUnknown {
			x.say("%s is unknown: %s", x.source(side.n), side.v.fault.words(x.src, x.env.Doc))
			return
		}
	}
	t, code := x.outcome(n, left, right)
	subject, other, op := n.left, n.right, n.op
	if _, constant := ungroupLiteral(subject); constant {
		if mirrored, ok := op.mirror(); ok {
			op, subject, other = mirrored, other, subject
			left, right = right, left
		}
	}
	name, is := x.source(subject), x.describe(subject, left)
	switch {
	case t == Unknown:
		x.say("%s: %s", x.kindly(name, left), x.cannot(n, code, name, left, right))
	case (t == True) != negated:
		x.satisfied(name, is, op, negated, x.operand(other, right))
		if op.spell(negated) == "!=" {
			x.oddComparison(subject, other, left, right)
			x.oddComparison(other, subject, right, left)
		}
	case x.brief:
		x.say("%s is %s", name, is)
	default:
		x.say("%s is %s, want %s %s", name, is, op.spell(negated), x.operand(other, right))
	}
}

func (x *explainer) satisfied(name, is string, op compareOp, negated bool, operand string) {
	if x.brief || op == opEqual && !negated {
		x.say("%s is %s", name, is)
		return
	}
	x.say("%s is %s (%s %s)", name, is, op.spell(negated), operand)
}

// describe shows the value of a node; for count, also of how many.
func (x *explainer) describe(n node, v value) string {
	c, ok := ungroup(n).(*call)
	if !ok || c.fn != fnCount {
		return v.preview()
	}
	total := 0
	x.elements(c, func(string, value) bool { total++; return true })
	return fmt.Sprintf("%s (of %s)", v.preview(), items(total))
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// operand shows the other side of a comparison.
func (x *explainer) operand(n node, v value) string {
	if _, constant := ungroupLiteral(n); constant {
		return x.source(n)
	}
	return x.source(n) + ", which is " + v.preview()
}

// kindly shows a value with its type.
func (x *explainer) kindly(name string, v value) string {
	if v.isNull() {
		return name + " is " + v.kind.noun()
	}
	return fmt.Sprintf("%s is %s (%s)", name, v.preview(), v.kind.noun())
}

// cannot says why a comparison of two known values is unknown.
func (x *explainer) cannot(n *comparison, code faultCode, name string, left, right value) string {
	switch {
	case code == faultMember:
		return "it contains nothing"
	case code == faultList:
		return x.kindly(x.source(n.right), right) + ", and in needs a list"
	case code == faultText && left.kind == KindNumber:
		return fmt.Sprintf("%s needs text; write (%s | tostring) %s %s", n.op, name, n.op, x.source(n.right))
	case code == faultText && left.kind == KindString:
		return x.kindly(x.source(n.right), right) + ", and " + n.op.String() + " needs text"
	case code == faultText:
		return n.op.String() + " needs text"
	}
	words := "cannot be ordered against " + right.kind.noun()
	_, constant := ungroupLiteral(n.right)
	if _, isNumber := rawjson.NumberIn(left.str); left.kind == KindString && isNumber && right.kind == KindNumber && constant {
		words += fmt.Sprintf("; write (%s | tonumber) %s %s", name, n.op, x.source(n.right))
	}
	return words
}

// spell spells the operator, or its opposite.
func (op compareOp) spell(negated bool) string {
	if !negated {
		return op.String()
	}
	switch op {
	case opEqual:
		return "!="
	case opNotEqual:
		return "=="
	case opLess:
		return ">="
	case opLessEqual:
		return ">"
	case opGreater:
		return "<="
	case opGreaterEqual:
		return "<"
	case opMatch:
		return "!~"
	case opNotMatch:
		return "=~"
	}
	return "not " + op.String()
}

// mirror is the operator for the sides exchanged.
func (op compareOp) mirror() (compareOp, bool) {
	switch op {
	case opEqual, opNotEqual:
		return op, true
	case opLess:
		return opGreater, true
	case opLessEqual:
		return opGreaterEqual, true
	case opGreater:
		return opLess, true
	case opGreaterEqual:
		return opLessEqual, true
	}
	return op, false
}

// truth explains a value that is used as a condition.
func (x *explainer) truth(n node, negated bool) {
	v := x.value(n)
	name := x.source(n)
	switch t := v.truth(); {
	case t == Unknown:
		x.say("%s is unknown: %s", name, v.fault.words(x.src, x.env.Doc))
	case v.kind == KindMissing && isQueryPath(n):
		x.say("%s: no element", name)
	case (t == True) != negated || x.brief:
		x.say("%s is %s", name, v.preview())
		if !negated {
			x.oddTruth(n, v)
		}
	case negated && v.kind == KindBool:
		x.say("%s is true, want false", name)
	case negated:
		x.say("%s is %s, want null, false or missing", name, v.preview())
	case v.kind == KindBool:
		x.say("%s is false, want true", name)
	default:
		x.say("%s is %s, want a value", name, v.preview())
	}
}

// isQueryPath reports whether the node is a path that ends with #(...).
func isQueryPath(n node) bool {
	p, ok := ungroup(n).(*pathNode)
	return ok && len(p.hops) > 0 && p.hops[len(p.hops)-1].kind == hopFirst
}

// quantifier explains any and all by the element that decided, or else the first.
func (x *explainer) quantifier(n *call) {
	var t tally
	var at string
	var decisive value
	f, ok := x.elements(n, func(label string, element value) bool {
		before := t
		t.add(x.judge(n, element))
		if t.total == 1 || n.decides(before, t) {
			at, decisive = label, element
		}
		return true
	})
	name := x.source(n)
	switch result := n.outcome(&t); {
	case !ok && !n.settled(&t):
		x.say("%s is unknown: %s", name, f.words(x.src, x.env.Doc))
	case result.kind == KindUnknown:
		x.say("%s: unknown at %s: %s (%s, %d unknown)", name, at, x.element(n, decisive), items(t.total), t.unknown)
	case t.total == 0:
		x.say("%s is %s: %s is empty", name, result.raw, x.listSource(n))
		if n.fn == fnAll {
			x.note("%s is true because %s is empty", name, x.listSource(n))
		}
	case n.fn == fnAll && t.failed > 0:
		x.say("%s: false at %s: %s (%s, %d false)", name, at, x.element(n, decisive), items(t.total), t.failed)
	case n.fn == fnAny && t.matched > 0:
		x.say("%s: true at %s: %s", name, at, x.element(n, decisive))
	case n.fn == fnAny:
		x.say("%s: true for none of %s, at %s: %s", name, items(t.total), at, x.element(n, decisive))
	default:
		x.say("%s: true for all of %s", name, items(t.total))
	}
}

// decides reports whether the element that turned the tally before into after is
// the one to show: the first that settles the outcome, else the first unknown one.
func (n *call) decides(before, after tally) bool {
	if n.settled(&before) {
		return false
	}
	return n.settled(&after) || before.unknown == 0 && after.unknown == 1
}

// element explains the condition for one element, in one line.
func (x *explainer) element(n *call, element value) string {
	switch {
	case element.kind == KindUnknown:
		return element.fault.words(x.src, x.env.Doc)
	case n.cond == nil:
		return "it is " + element.preview()
	}
	inner := &explainer{evaluator: x.evaluator, src: x.src, brief: true}
	inner.logics = map[*logic]value{}
	inner.enter(element, span{})
	inner.collect(n.cond, false)
	if len(inner.lines) == 0 {
		return ""
	}
	return inner.lines[0]
}

// listSource is the source of what any or all goes through.
func (x *explainer) listSource(n *call) string {
	if n.each == nil {
		return "."
	}
	s, _ := n.each.each()
	if source := x.src[n.each.from:n.each.before(s.from)]; source != "" {
		return source
	}
	return "."
}

// oddComparison notes a difference that holds because a value is missing.
func (x *explainer) oddComparison(n, other node, v, w value) {
	if v.kind == KindMissing && w.kind != KindMissing {
		x.note("%s is missing, which is != %s", x.source(n), x.source(other))
	}
}

// oddTruth notes a value that is true although it looks like nothing.
func (x *explainer) oddTruth(n node, v value) {
	name := x.source(n)
	switch {
	case v.kind == KindArray && rawjson.IsEmpty(v.raw):
		x.note("%s is an empty list, which is true", name)
	case v.kind == KindObject && rawjson.IsEmpty(v.raw):
		x.note("%s is an empty object, which is true", name)
	case v.kind == KindString && v.str == "":
		x.note("%s is an empty text, which is true", name)
	case v.kind == KindString && !isPath(lastStage(n)):
		x.note("%s is text, and any text is true: compare it", name)
	case v.kind == KindNumber:
		x.note("%s is %s, and any number is true, also 0: compare it", name, v.preview())
	}
}

// lastStage is what the value of n comes out of: the end of a pipe.
func lastStage(n node) node {
	n = ungroup(n)
	if p, ok := n.(*pipe); ok {
		return lastStage(p.xs[len(p.xs)-1])
	}
	return n
}

// isPath reports whether n asks for a part of the answer, where being there may
// be what counts.
func isPath(n node) bool {
	switch n := n.(type) {
	case *pathNode, *alternative:
		return true
	case *variable:
		return n.name == "header"
	}
	return false
}
