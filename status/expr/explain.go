package expr

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// An explanation says why a part of an expression came out as it did.
type explanation struct {
	outcome Tri
	lines   []string // what decided the outcome
	notes   []string // what is odd about it
}

// An explainer evaluates an expression again and explains each part of it.
type explainer struct {
	evaluator
	explanation
	src    string
	prefix string // the source of what is piped in: ".status | "
	brief  bool   // leave out what is wanted, since the reader sees it
}

// explain explains the whole result. If that fails, it says what is known.
func (r Result) explain() (x *explainer) {
	x = &explainer{evaluator: newEvaluator(r.expr, r.env), src: r.expr.src}
	x.labels = true
	if r.Abandoned() {
		x.explanation = x.say(Unknown, x.reason(r.value.fault))
		return x
	}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		x.prefix = ""
		switch why := failure(p); {
		case r.Tri == Unknown:
			x.explanation = x.unknown(x.src, r.value.fault)
		case why.code == faultAbandoned:
			x.explanation = x.say(r.Tri, x.src+" is "+r.Tri.String()+"; there was no time to find out why")
		default:
			x.explanation = x.say(r.Tri, x.reason(why))
		}
	}()
	if r.expr.jq != nil {
		x.explanation = x.explainJQ(r)
		return x
	}
	x.explanation = x.condition(r.expr.program.Root, false)
	return x
}

// condition explains a condition, or its opposite if negated is true.
func (x *explainer) condition(n syntax.Node, negated bool) explanation {
	switch n := syntax.Ungroup(n).(type) {
	case *syntax.Negation:
		return x.negation(n.X, negated)
	case *syntax.Logic:
		return x.logic(n, negated)
	case *syntax.Pipe:
		return x.pipe(n, negated)
	case *syntax.Comparison:
		return x.comparison(n, negated)
	case *syntax.Call:
		if n.Function == syntax.FuncAny || n.Function == syntax.FuncAll {
			return x.quantifier(n)
		}
		if isPredicate(n) {
			return x.predicate(n, ".", negated)
		}
	}
	return x.truth(n, negated)
}

func (x *explainer) negation(n syntax.Node, negated bool) explanation {
	why := x.condition(n, !negated)
	why.outcome = why.outcome.not()
	return why
}

// logic explains the operands that decided: those that are true for a true "or",
// those that are not for an "and" that is not true, and otherwise all of them.
func (x *explainer) logic(n *syntax.Logic, negated bool) explanation {
	settles := triOf(n.Or)
	whole := explanation{outcome: settles.not()}
	decides := func(why explanation) bool { return (why.outcome == True) == n.Or }
	operands := make([]explanation, len(n.Xs))
	for i, operand := range n.Xs {
		why := x.condition(operand, negated)
		if why.outcome == settles || why.outcome == Unknown && whole.outcome != settles {
			whole.outcome = why.outcome
		}
		operands[i] = why
	}
	decided := slices.ContainsFunc(operands, decides)
	whole.lines = make([]string, 0, len(operands))
	for _, why := range operands {
		if !decided || decides(why) {
			whole.lines = append(whole.lines, why.lines...)
			whole.notes = append(whole.notes, why.notes...)
		}
	}
	return whole
}

// pipe explains the last part of a pipe, given the value of the others.
func (x *explainer) pipe(n *syntax.Pipe, negated bool) explanation {
	last := len(n.Xs) - 1
	left, right := n.Xs[0], syntax.Ungroup(n.Xs[last])
	if last > 1 {
		left = &syntax.Pipe{Span: syntax.Span{From: n.From, To: n.Xs[last-1].Where().To}, Xs: n.Xs[:last]}
	}
	v := x.value(left)
	call, isCall := right.(*syntax.Call)
	switch {
	case v.kind == KindUnknown:
		return x.unknown(x.source(left), v.fault)
	case isCall && call.Function == syntax.FuncNot:
		return x.negation(left, negated)
	case isCall && isPredicate(call):
		defer x.leave(x.enter(v, left.Where()))
		return x.predicate(call, x.source(left), negated)
	case isCall && call.Function != syntax.FuncAny && call.Function != syntax.FuncAll:
		return x.truth(n, negated)
	}
	defer x.leave(x.enter(v, left.Where()))
	outer := x.prefix
	x.prefix += left.Where().Of(x.src) + " | "
	why := x.condition(right, negated)
	x.prefix = outer
	return why
}

// isPredicate reports whether the function says true or false of a value.
func isPredicate(n *syntax.Call) bool {
	switch n.Function {
	case syntax.FuncTest, syntax.FuncStartsWith, syntax.FuncEndsWith, syntax.FuncContains, syntax.FuncHas, syntax.FuncIn:
		return true
	}
	return false
}

// predicate explains a function that says true or false of ".", which comes from
// subject.
func (x *explainer) predicate(n *syntax.Call, subject string, negated bool) explanation {
	v, t := x.current(), x.value(n)
	switch {
	case v.kind == KindUnknown:
		return x.unknown(subject, v.fault)
	case t.kind == KindUnknown:
		return x.say(Unknown, withKind(subject, v)+": "+t.fault.reason(x.src))
	}
	wanted := x.source(n)
	if negated {
		wanted = "not " + wanted
	}
	if t.truth() == True && slices.ContainsFunc(n.Args, func(arg syntax.Constant) bool { return arg.Secret }) {
		return x.fact(True, negated, subject+" | "+x.source(n), wanted)
	}
	return x.verdict(t.truth(), negated, subject, v.preview(), wanted, false)
}

// comparison explains "left op right" as a statement about one side.
func (x *explainer) comparison(n *syntax.Comparison, negated bool) explanation {
	left, right := x.value(n.Left), x.value(n.Right)
	if left.kind == KindUnknown {
		return x.unknown(x.source(n.Left), left.fault)
	}
	if right.kind == KindUnknown {
		return x.unknown(x.source(n.Right), right.fault)
	}
	t, code := x.compareValues(n, left, right)
	if t == Unknown {
		f, side, v := misfit(n, code, left, right)
		return x.say(Unknown, withKind(x.source(side), v)+": "+f.reason(x.src)+x.conversion(n, f, v))
	}
	subject, other, op := n.Left, n.Right, n.Op
	if _, constant := syntax.LiteralOf(subject); constant {
		if mirrored, ok := op.Mirror(); ok {
			op, subject, other = mirrored, other, subject
			left, right = right, left
		}
	}
	wanted := op.Spell(negated) + " " + x.operand(other, right)
	if right.hidden && coincide(n.Op, t) { // so that the subject tells the value of the other
		return x.fact(t, negated, x.source(subject)+" "+op.Spell(t == False)+" "+x.source(other), wanted)
	}
	plain := op == syntax.OpEqual && !negated
	why := x.verdict(t, negated, x.source(subject), x.describe(subject, left), wanted, !plain)
	if (t == True) != negated && op.Spell(negated) == "!=" && (left.kind == KindMissing) != (right.kind == KindMissing) {
		if right.kind == KindMissing {
			subject, other = other, subject
		}
		x.note(&why, x.source(subject)+" is missing, which is != "+x.source(other))
	}
	return why
}

// coincide reports whether a comparison found that one side is, or is a part of, the other.
func coincide(op syntax.CompareOp, t Tri) bool {
	return (t == True) != (op == syntax.OpNotEqual || op == syntax.OpNotMatch)
}

// fact states what is so and, if it is not what was wanted, what was wanted.
func (x *explainer) fact(t Tri, negated bool, fact, wanted string) explanation {
	if (t == True) == negated && !x.brief {
		fact += ", want " + wanted
	}
	return x.say(t, fact)
}

// conversion says what to write if a value only has the wrong type for a comparison.
func (x *explainer) conversion(n *syntax.Comparison, f fault, v value) string {
	function := ""
	_, isNumber := rawjson.NumberIn(v.str)
	switch {
	case f.code == faultText && f.got == KindNumber:
		function = "tostring"
	case f.code == faultOrder && isNumber && f.want == KindNumber:
		function = "tonumber"
	default:
		return ""
	}
	left, right := x.source(n.Left), x.source(n.Right)
	if f.subject == n.Left.Where() {
		left = "(" + left + " | " + function + ")"
	} else {
		right = "(" + right + " | " + function + ")"
	}
	return "; write " + left + " " + n.Op.String() + " " + right
}

// describe shows the value of a node and, for count, the number of items.
func (x *explainer) describe(n syntax.Node, v value) string {
	c, ok := syntax.Ungroup(n).(*syntax.Call)
	if !ok || c.Function != syntax.FuncCount {
		return v.preview()
	}
	return fmt.Sprintf("%s (of %s)", v.preview(), words.Count(x.tally(c, nil).total(), "item"))
}

// operand shows the other side of a comparison.
func (x *explainer) operand(n syntax.Node, v value) string {
	if _, constant := syntax.LiteralOf(n); constant {
		return x.source(n)
	}
	return x.source(n) + ", which is " + v.preview()
}

// truth explains a value that is used as a condition.
func (x *explainer) truth(n syntax.Node, negated bool) explanation {
	v, name := x.value(n), x.source(n)
	t, wanted := v.truth(), "a value"
	switch {
	case t == Unknown:
		return x.unknown(name, v.fault)
	case v.kind == KindMissing && isQueryPath(n):
		return x.say(t, name+": no element")
	case v.kind == KindBool:
		wanted = strconv.FormatBool(!negated)
	case negated:
		wanted = "null, false or missing"
	}
	why := x.verdict(t, negated, name, v.preview(), wanted, false)
	if odd := oddTruth(n, v); odd != "" && !negated {
		x.note(&why, name+" is "+odd)
	}
	return why
}

// isQueryPath reports whether the node is a path that ends with #(...).
func isQueryPath(n syntax.Node) bool {
	p, ok := syntax.Ungroup(n).(*syntax.Path)
	return ok && len(p.Lookups) > 0 && p.Lookups[len(p.Lookups)-1].Kind == syntax.LookupFirst
}

// oddTruth says why a true value may be true by mistake, "" if nothing suggests that.
func oddTruth(n syntax.Node, v value) string {
	switch {
	case v.kind == KindArray && rawjson.IsEmpty(v.raw):
		return "an empty list, which is true"
	case v.kind == KindObject && rawjson.IsEmpty(v.raw):
		return "an empty object, which is true"
	case v.kind == KindString && v.str == "":
		return "an empty text, which is true"
	case v.kind == KindString && !mayBeAbsent(syntax.LastStage(n)):
		return "text, and any text is true: compare it"
	case v.kind == KindNumber:
		return v.preview() + ", and any number is true, also 0: compare it"
	}
	return ""
}

// mayBeAbsent reports whether n asks for a part of the answer whose presence may be what
// counts.
func mayBeAbsent(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Path, *syntax.Alternative:
		return true
	case *syntax.Variable:
		return n.Name == syntax.VarHeader || n.Name == syntax.VarError
	}
	return false
}

// quantifier explains any and all by the element that decided: the first that
// settles the outcome, else the first unknown one, else the first.
func (x *explainer) quantifier(n *syntax.Call) explanation {
	at, decisive, weight := "", value{}, 0
	t := x.tally(n, func(label string, element value, outcome Tri) {
		w := 1
		switch outcome {
		case triOf(n.Function == syntax.FuncAny):
			w = 3
		case Unknown:
			w = 2
		}
		if w > weight {
			at, decisive, weight = label, element, w
		}
	})
	name, all, v := x.source(n), n.Function == syntax.FuncAll, t.value(n)
	total, outcome := words.Count(t.total(), "item"), v.truth()
	if t.total() > 0 {
		at += ": " + x.element(n, decisive)
	}
	switch {
	case outcome == Unknown && t.unreachable.code != faultNone:
		return x.unknown(name, v.fault)
	case outcome == Unknown:
		return x.say(outcome, fmt.Sprintf("%s: unknown at %s (%s, %d unknown)", name, at, total, t.counts[Unknown]))
	case t.total() == 0:
		list := subjectOf(listOf(n), x.src)
		why := x.say(outcome, name+" is "+outcome.String()+": "+list+" is empty")
		if all {
			x.note(&why, name+" is true because "+list+" is empty")
		}
		return why
	case all && outcome == False:
		return x.say(outcome, fmt.Sprintf("%s: false at %s (%s, %d false)", name, at, total, t.counts[False]))
	case all:
		return x.say(outcome, name+": true for all of "+total)
	case outcome == True:
		return x.say(outcome, name+": true at "+at)
	}
	return x.say(outcome, name+": true for none of "+total+", at "+at)
}

// element explains the condition for one element, in one line.
func (x *explainer) element(n *syntax.Call, element value) string {
	switch {
	case element.kind == KindUnknown:
		return x.reason(element.fault)
	case n.Cond == nil:
		return "it is " + element.preview()
	}
	defer x.leave(x.enter(element, syntax.Span{}))
	prefix, brief := x.prefix, x.brief
	x.prefix, x.brief = "", true
	why := x.condition(n.Cond, false)
	x.prefix, x.brief = prefix, brief
	return why.lines[0]
}

// verdict says what a value is and, if it is not what was wanted or if always is true,
// what was wanted.
func (x *explainer) verdict(t Tri, negated bool, subject, is, wanted string, always bool) explanation {
	met := (t == True) != negated
	switch {
	case x.brief || met && !always:
		return x.say(t, subject+" is "+is)
	case met:
		return x.say(t, subject+" is "+is+" ("+wanted+")")
	}
	return x.say(t, subject+" is "+is+", want "+wanted)
}

func (x *explainer) unknown(subject string, f *fault) explanation {
	return x.say(Unknown, subject+" is unknown: "+x.reason(f))
}

func (x *explainer) say(t Tri, line string) explanation {
	return explanation{outcome: t, lines: []string{rawjson.OneLine(x.prefix + line)}}
}

func (x *explainer) note(why *explanation, note string) {
	why.notes = append(why.notes, rawjson.OneLine(x.prefix+note))
}

func (x *explainer) reason(f *fault) string { return f.words(x.src) }

// source is the text of a node without parentheses around it.
func (x *explainer) source(n syntax.Node) string { return syntax.Ungroup(n).Where().Of(x.src) }

// withKind shows a value with its type.
func withKind(subject string, v value) string {
	if v.isNull() {
		return subject + " is " + v.kind.noun()
	}
	return fmt.Sprintf("%s is %s (%s)", subject, v.preview(), v.kind.noun())
}
