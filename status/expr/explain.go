package expr

import (
	"fmt"
	"slices"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
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
func (x *explainer) source(n syntax.Node) string { return syntax.Ungroup(n).Where().Of(x.src) }

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
func (x *explainer) collect(n syntax.Node, negated bool) {
	switch n := syntax.Ungroup(n).(type) {
	case *syntax.Negation:
		x.collect(n.X, !negated)
	case *syntax.Logic:
		x.logic(n, negated)
	case *syntax.Pipe:
		x.pipe(n, negated)
	case *syntax.Comparison:
		x.comparison(n, negated)
	case *syntax.Call:
		x.call(n, negated)
	default:
		x.truth(n, negated)
	}
}

// logic explains the operands that decided: those that are true for a true "or",
// those that are not for an "and" that is not true, and otherwise all of them.
func (x *explainer) logic(n *syntax.Logic, negated bool) {
	outcomes := make([]Tri, len(n.Xs))
	holds := !n.Or
	for i, operand := range n.Xs {
		outcomes[i] = x.value(operand).truth()
		if (outcomes[i] == True) == n.Or {
			holds = n.Or
		}
	}
	for i, operand := range n.Xs {
		if holds != n.Or || (outcomes[i] == True) == n.Or {
			x.collect(operand, negated)
		}
	}
}

// pipe explains the last part of a pipe for what comes out of the others.
func (x *explainer) pipe(n *syntax.Pipe, negated bool) {
	rest, last := n.Xs[:len(n.Xs)-1], syntax.Ungroup(n.Xs[len(n.Xs)-1])
	left := rest[0]
	if len(rest) > 1 {
		left = &syntax.Pipe{Span: syntax.Span{From: n.From, To: rest[len(rest)-1].Where().To}, Xs: rest}
	}
	v := x.value(left)
	c, isCall := last.(*syntax.Call)
	switch {
	case v.kind == KindUnknown:
		x.truth(left, negated)
	case isCall && c.Function == syntax.FuncNot:
		x.collect(left, !negated)
	case isCall && c.Function != syntax.FuncAny && c.Function != syntax.FuncAll && !isPredicate(c):
		x.truth(n, negated)
	default:
		outer := x.enter(v, left.Where())
		if isCall && isPredicate(c) {
			x.predicate(c, left, v, negated)
		} else {
			x.piped(left, last, negated)
		}
		x.scope = outer
	}
}

// piped explains what is asked of the value of left.
func (x *explainer) piped(left, n syntax.Node, negated bool) {
	outer := x.prefix
	x.prefix += left.Where().Of(x.src) + " | "
	x.collect(n, negated)
	x.prefix = outer
}

// isPredicate reports whether the function says true or false of a value.
func isPredicate(n *syntax.Call) bool {
	switch n.Function {
	case syntax.FuncTest, syntax.FuncStartsWith, syntax.FuncEndsWith, syntax.FuncContains, syntax.FuncHas, syntax.FuncIn:
		return true
	}
	return false
}

func (x *explainer) call(n *syntax.Call, negated bool) {
	switch {
	case n.Function == syntax.FuncAny || n.Function == syntax.FuncAll:
		x.quantifier(n)
	case isPredicate(n):
		x.predicate(n, nil, x.current(), negated)
	default:
		x.truth(n, negated)
	}
}

// predicate explains a function that says true or false of v; subject is where
// v comes from, nil for ".".
func (x *explainer) predicate(n *syntax.Call, subject syntax.Node, v value, negated bool) {
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

func (x *explainer) predicateNeeds(n *syntax.Call) string {
	switch n.Function {
	case syntax.FuncContains:
		return "contains needs text or a list"
	case syntax.FuncHas:
		return "has needs an object for a key, or a list for a number"
	}
	return x.source(n) + " needs text"
}

// comparison explains "left op right" as something about one of them.
func (x *explainer) comparison(n *syntax.Comparison, negated bool) {
	left, right := x.value(n.Left), x.value(n.Right)
	for _, side := range []struct {
		n syntax.Node
		v value
	}{{n.Left, left}, {n.Right, right}} {
		if side.v.kind == KindUnknown {
			x.say("%s is unknown: %s", x.source(side.n), side.v.fault.words(x.src, x.env.Doc))
			return
		}
	}
	t, code := x.outcome(n, left, right)
	subject, other, op := n.Left, n.Right, n.Op
	if _, constant := syntax.LiteralOf(subject); constant {
		if mirrored, ok := op.Mirror(); ok {
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
		if op.Spell(negated) == "!=" {
			x.oddComparison(subject, other, left, right)
			x.oddComparison(other, subject, right, left)
		}
	case x.brief:
		x.say("%s is %s", name, is)
	default:
		x.say("%s is %s, want %s %s", name, is, op.Spell(negated), x.operand(other, right))
	}
}

func (x *explainer) satisfied(name, is string, op syntax.CompareOp, negated bool, operand string) {
	if x.brief || op == syntax.OpEqual && !negated {
		x.say("%s is %s", name, is)
		return
	}
	x.say("%s is %s (%s %s)", name, is, op.Spell(negated), operand)
}

// describe shows the value of a node; for count, also of how many.
func (x *explainer) describe(n syntax.Node, v value) string {
	c, ok := syntax.Ungroup(n).(*syntax.Call)
	if !ok || c.Function != syntax.FuncCount {
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
func (x *explainer) operand(n syntax.Node, v value) string {
	if _, constant := syntax.LiteralOf(n); constant {
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
func (x *explainer) cannot(n *syntax.Comparison, code faultCode, name string, left, right value) string {
	switch {
	case code == faultMember:
		return "it contains nothing"
	case code == faultList:
		return x.kindly(x.source(n.Right), right) + ", and in needs a list"
	case code == faultText && left.kind == KindNumber:
		return fmt.Sprintf("%s needs text; write (%s | tostring) %s %s", n.Op, name, n.Op, x.source(n.Right))
	case code == faultText && left.kind == KindString:
		return x.kindly(x.source(n.Right), right) + ", and " + n.Op.String() + " needs text"
	case code == faultText:
		return n.Op.String() + " needs text"
	}
	words := "cannot be ordered against " + right.kind.noun()
	_, constant := syntax.LiteralOf(n.Right)
	if _, isNumber := rawjson.NumberIn(left.str); left.kind == KindString && isNumber && right.kind == KindNumber && constant {
		words += fmt.Sprintf("; write (%s | tonumber) %s %s", name, n.Op, x.source(n.Right))
	}
	return words
}

// truth explains a value that is used as a condition.
func (x *explainer) truth(n syntax.Node, negated bool) {
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
func isQueryPath(n syntax.Node) bool {
	p, ok := syntax.Ungroup(n).(*syntax.Path)
	return ok && len(p.Lookups) > 0 && p.Lookups[len(p.Lookups)-1].Kind == syntax.LookupFirst
}

// quantifier explains any and all by the element that decided, or else the first.
func (x *explainer) quantifier(n *syntax.Call) {
	var t tally
	var at string
	var decisive value
	f, ok := x.elements(n, func(label string, element value) bool {
		before := t
		t.add(x.judge(n, element))
		if t.total == 1 || decides(n, before, t) {
			at, decisive = label, element
		}
		return true
	})
	name := x.source(n)
	switch result := tallyOutcome(n, &t); {
	case !ok && !settled(n, &t):
		x.say("%s is unknown: %s", name, f.words(x.src, x.env.Doc))
	case result.kind == KindUnknown:
		x.say("%s: unknown at %s: %s (%s, %d unknown)", name, at, x.element(n, decisive), items(t.total), t.unknown)
	case t.total == 0:
		x.say("%s is %s: %s is empty", name, result.raw, x.listSource(n))
		if n.Function == syntax.FuncAll {
			x.note("%s is true because %s is empty", name, x.listSource(n))
		}
	case n.Function == syntax.FuncAll && t.failed > 0:
		x.say("%s: false at %s: %s (%s, %d false)", name, at, x.element(n, decisive), items(t.total), t.failed)
	case n.Function == syntax.FuncAny && t.matched > 0:
		x.say("%s: true at %s: %s", name, at, x.element(n, decisive))
	case n.Function == syntax.FuncAny:
		x.say("%s: true for none of %s, at %s: %s", name, items(t.total), at, x.element(n, decisive))
	default:
		x.say("%s: true for all of %s", name, items(t.total))
	}
}

// decides reports whether the element that turned the tally before into after is
// the one to show: the first that settles the outcome, else the first unknown one.
func decides(n *syntax.Call, before, after tally) bool {
	if settled(n, &before) {
		return false
	}
	return settled(n, &after) || before.unknown == 0 && after.unknown == 1
}

// element explains the condition for one element, in one line.
func (x *explainer) element(n *syntax.Call, element value) string {
	switch {
	case element.kind == KindUnknown:
		return element.fault.words(x.src, x.env.Doc)
	case n.Cond == nil:
		return "it is " + element.preview()
	}
	inner := &explainer{evaluator: x.evaluator, src: x.src, brief: true}
	inner.logics = map[*syntax.Logic]value{}
	inner.enter(element, syntax.Span{})
	inner.collect(n.Cond, false)
	if len(inner.lines) == 0 {
		return ""
	}
	return inner.lines[0]
}

// listSource is the source of what any or all goes through.
func (x *explainer) listSource(n *syntax.Call) string {
	if n.Each == nil {
		return "."
	}
	s, _ := n.Each.Each()
	if source := x.src[n.Each.From:n.Each.Before(s.From)]; source != "" {
		return source
	}
	return "."
}

// oddComparison notes a difference that holds because a value is missing.
func (x *explainer) oddComparison(n, other syntax.Node, v, w value) {
	if v.kind == KindMissing && w.kind != KindMissing {
		x.note("%s is missing, which is != %s", x.source(n), x.source(other))
	}
}

// oddTruth notes a value that is true although it looks like nothing.
func (x *explainer) oddTruth(n syntax.Node, v value) {
	name := x.source(n)
	switch {
	case v.kind == KindArray && rawjson.IsEmpty(v.raw):
		x.note("%s is an empty list, which is true", name)
	case v.kind == KindObject && rawjson.IsEmpty(v.raw):
		x.note("%s is an empty object, which is true", name)
	case v.kind == KindString && v.str == "":
		x.note("%s is an empty text, which is true", name)
	case v.kind == KindString && !isPath(syntax.LastStage(n)):
		x.note("%s is text, and any text is true: compare it", name)
	case v.kind == KindNumber:
		x.note("%s is %s, and any number is true, also 0: compare it", name, v.preview())
	}
}

// isPath reports whether n asks for a part of the answer, where being there may
// be what counts.
func isPath(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Path, *syntax.Alternative:
		return true
	case *syntax.Variable:
		return n.Name == syntax.VarHeader
	}
	return false
}
