package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// An explainer explains the outcome of a condition. For each comparison, or other part, that decided the outcome, it
// adds a line, in the order of the source. It also adds notes about parts with surprising results. To do so, it
// evaluates the parts again.
type explainer struct {
	*evaluator
	why    *Explanation
	prefix string // starts each line: the source of the value on the left of a pipe, such as ".status | "
}

// withEvaluator returns a copy of x that evaluates parts with e.
func (x explainer) withEvaluator(e *evaluator) explainer {
	x.evaluator = e
	return x
}

// add adds text to list, which is x.why.Lines or x.why.Notes.
func (x explainer) add(list *[]string, text string) {
	*list = append(*list, words.OneLine(x.prefix+text))
}

// explain explains the condition n.
func (x explainer) explain(n *node) {
	switch {
	case n.op == opNot:
		x.withEvaluator(x.opposed()).explain(n.kids[0])
	case n.op == opAnd || n.op == opOr:
		x.operands(n)
	case n.op == opCompare:
		x.comparison(n)
	case n.op == opPipe:
		x.pipe(n)
	case n.op == opCall && isOneOf(n.name, quantifiers):
		x.quantifier(n)
	default:
		x.truth(n, x.eval(n))
	}
}

// operands explains the operands that decided the result of "and" or "or": the true operands of a true "or", or the
// operands of "and" that are not true. If no operand decided, operands explains all operands.
func (x explainer) operands(n *node) {
	var deciding []*node
	for _, kid := range n.kids {
		if isTrue := x.eval(kid).truth() == True; isTrue == (n.op == opOr) {
			deciding = append(deciding, kid)
		}
	}
	if deciding == nil {
		deciding = n.kids
	}
	for _, kid := range deciding { // the hints of deciding were collected by x.eval above
		x.withEvaluator(x.unhinted()).explain(kid)
	}
}

// pipe explains the right side of a pipe, where "." is the value of the left side.
func (x explainer) pipe(n *node) {
	left, right := n.kids[0], n.kids[1]
	v := x.eval(left)
	inner := x.withEvaluator(x.evaluator.with(v, x.text(left)))
	switch {
	case v.kind == kindUnknown:
		x.unknown(left, v)
	case right.isFunction():
		x.truth(n, inner.eval(right))
	default:
		end := left.to + strings.IndexByte(x.src[left.to:], '|')
		inner.prefix += strings.TrimSpace(x.src[n.from:end]) + " | "
		inner.explain(right)
	}
}

// verdict adds a line such as `.state is "pending"`. The line consists of subject, the word "is", and the string in
// the parameter is. t is the outcome of the condition. If another outcome was required, the line continues with ",
// want" and wanted.
func (x explainer) verdict(t Tri, subject, is, wanted string) {
	if t == Unknown || (t == True) == x.negated {
		is += ", want " + wanted
	}
	x.add(&x.why.Lines, subject+" is "+is)
}

// unknown adds a line that explains why n is unknown, where v is the unknown value of n.
func (x explainer) unknown(n *node, v value) {
	x.add(&x.why.Lines, x.text(n)+" is unknown: "+v.detail)
}

// truth explains n, a condition without a comparison, such as a path. v is the value of n. If the source of n looks
// as if it was meant to be compared, truth may add a note.
func (x explainer) truth(n *node, v value) {
	wanted := "a value"
	switch {
	case v.kind == kindUnknown:
		x.unknown(n, v)
		return
	case v.kind == kindBool:
		wanted = strconv.FormatBool(!x.negated)
	case x.negated:
		wanted = "null, false or missing"
	}
	is := v.preview()
	x.verdict(v.truth(), x.text(n), is, wanted)
	if note, _, _ := findRow("odd", x.text(n)+" is "+is); note != "" && !x.negated && !x.isCompared(n) {
		x.add(&x.why.Notes, note)
	}
}

// isCompared reports whether the source of n appears before an operator anywhere in the expression.
func (x explainer) isCompared(n *node) bool {
	is, _ := regexp.MatchString(regexp.QuoteMeta(x.text(n))+` *(?:[=!<>]|\||(?:in|contains|startswith|endswith)\b)`, x.src)
	return is
}

// comparison adds a line about one side of the comparison n.
func (x explainer) comparison(n *node) {
	left, right := n.kids[0], n.kids[1]
	switch c := x.compare(n); {
	case c.left.kind == kindUnknown:
		x.unknown(left, c.left)
	case c.right.kind == kindUnknown:
		x.unknown(right, c.right)
	case c.isAbsent && !c.left.isNull():
		x.add(&x.why.Lines, c.result.detail)
	case !c.isAbsent && c.problem != "" && c.problem != needsAlike:
		side, v := c.unsuitable(n)
		x.add(&x.why.Lines, fmt.Sprintf("%s is %s (%s): %s %s", x.text(side), v.preview(), v.kind.noun(), n.sign, c.problem))
	default:
		x.statement(n, &c)
	}
}

// statement adds a line about the left side of the comparison n, as in `.state is "pending", want == "done"`. The
// values of c must be comparable.
func (x explainer) statement(n *node, c *comparison) {
	left, right, t := c.left, c.right, c.result.truth()
	subject, other, sign := x.text(n.kids[0]), x.text(n.kids[1]), n.sign
	isSame := (t == True) != (sign[0] == '!')
	if x.negated {
		sign = negations[sign]
	}
	is, wanted, isWritten := left.preview(), sign+" "+other, n.kids[1].op == opLiteral
	if !isWritten {
		wanted += ", which is " + right.preview()
	} else if !isSame && is != right.preview() && strings.EqualFold(is, right.preview()) {
		wanted += ", in another case"
	}
	if isSame && (right.hidden || left.hidden && !isWritten) { // the value of one side would reveal the other
		x.add(&x.why.Lines, x.text(n)+" is "+t.String())
		return
	}
	note := ""
	if sign != "==" { // hints.txt has no row for ==, by far the most frequent operator
		note, _, _ = findRow("compared", subject+" "+sign+" "+other+" is "+is)
	}
	if line := x.lineThatMatches(n, left, right); line != "" && t == True {
		subject, is = "a line of "+subject, preview(line)
	}
	x.verdict(t, subject, is, wanted)
	if note != "" {
		x.add(&x.why.Notes, note)
	}
}

// quantifier explains any, all or count. For any and all, it describes the element that decided the result.
func (x explainer) quantifier(n *node) {
	t := x.quantify(n, true)
	v := t.whole
	is := x.text(n) + " is " + v.truth().String()
	switch {
	case n.name == "count":
		x.truth(n, v)
	case v.kind == kindUnknown:
		x.unknown(n, v)
	case t.total > 0:
		items := words.Count(t.total, "item")
		x.add(&x.why.Lines, fmt.Sprintf("%s at %s: %s (%d of %s)", is, t.at.label, x.element(n, t.element), t.counts[t.decisive], items))
	default:
		x.add(&x.why.Lines, is+": the list is empty")
		if (v.truth() == True) != x.negated {
			x.add(&x.why.Notes, is+" because the list is empty")
		}
	}
}

// element returns a line that explains the condition of n, an any or all, for element. It adds the notes about the
// element to x.
func (x explainer) element(n *node, element value) string {
	e := x.unhinted().with(element, "")
	e.negated = false
	inner := explainer{evaluator: e, why: new(Explanation)}
	inner.explain(n.kids[1])
	x.why.Notes = append(x.why.Notes, inner.why.Notes...)
	return inner.why.Lines[0]
}
