package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// An account explains an outcome: a line for each comparison or other part that decided it, in the
// order of the source, and notes on what is odd about it. An evaluation writes it as it goes.
type account struct{ lines, notes []string }

// say adds a line to the account, if there is one.
func (e *evaluator) say(line string) {
	if e.why != nil {
		e.why.lines = append(e.why.lines, words.OneLine(e.prefix+line))
	}
}

// note adds a note.
func (e *evaluator) note(note string) {
	e.why.notes = append(e.why.notes, words.OneLine(e.prefix+note))
}

// sayOperands explains the operands that decided: the true ones of a true "or", the others of an "and"
// that is not true. If none decided, it explains all.
func (e *evaluator) sayOperands(n *node, outcomes []Tri) {
	if e.why == nil {
		return
	}
	inner := *e
	inner.hints = nil // the first evaluation has noted them
	decides := func(outcome Tri) bool { return (outcome == True) == (n.op == opOr) }
	decided := slices.ContainsFunc(outcomes, decides)
	for i, kid := range n.kids {
		if !decided || decides(outcomes[i]) {
			inner.eval(kid)
		}
	}
}

// verdict adds a line that shows a value and, unless it is the wanted one, the wanted one.
func (e *evaluator) verdict(t Tri, subject, is, wanted string) {
	if t == Unknown || (t == True) == e.negated {
		is += ", want " + wanted
	}
	e.say(subject + " is " + is)
}

// sayUnknown explains a node whose value is unknown.
func (e *evaluator) sayUnknown(n *node, v value) {
	e.say(e.text(n) + " is unknown: " + v.detail)
}

// sayTruth explains a value that is used as a condition.
func (e *evaluator) sayTruth(n *node, v value) {
	name, wanted := e.text(n), "a value"
	switch {
	case e.why == nil:
		return
	case v.kind == kindUnknown:
		e.sayUnknown(n, v)
		return
	case v.kind == kindBool:
		wanted = strconv.FormatBool(!e.negated)
	case e.negated:
		wanted = "null, false or missing"
	}
	e.verdict(v.truth(), name, v.preview(), wanted)
	e.noteOdd(n, v)
}

// noteOdd notes what is odd about a value that decided, unless the condition compares the value, too.
func (e *evaluator) noteOdd(n *node, v value) {
	note, _, _ := findHint("odd", e.text(n)+" is "+v.preview())
	if note == "" || e.negated {
		return
	}
	isCompared, _ := regexp.MatchString(regexp.QuoteMeta(e.text(n))+` *(?:[=!<>]|\||(?:in|contains|startswith|endswith)\b)`, e.src)
	if !isCompared {
		e.note(note)
	}
}

// sayComparison explains "left op right" as a statement about one side.
func (e *evaluator) sayComparison(n *node, left, right value, t Tri) {
	if e.why == nil && e.hints == nil {
		return
	}
	line := e.lineThatMatches(n, left, right)
	if line != "" && t == False && e.hints != nil {
		e.hints.has = append(e.hints.has, "^ and $ are the ends of the whole text: (?m) at the beginning of the pattern makes them those of a line")
	}
	if e.why == nil {
		return
	}
	subject, other, sign := e.text(n.kids[0]), e.text(n.kids[1]), n.sign
	isSame := (t == True) != (sign[0] == '!')
	if e.negated {
		sign = opposite(sign)
	}
	wanted := sign + " " + other
	if n.kids[1].op != opLiteral {
		wanted += ", which is " + right.preview()
	} else if !isSame && left.preview() != right.preview() && strings.EqualFold(left.preview(), right.preview()) {
		wanted += ", in another case"
	}
	if isSame && (right.hidden || left.hidden && n.kids[1].op != opLiteral) { // one tells the other
		e.say(e.text(n) + " is " + t.String())
		return
	}
	shown := left.preview()
	if line != "" && t == True {
		subject, shown = "a line of "+subject, preview(line)
	}
	e.verdict(t, subject, shown, wanted)
	if note, _, _ := findHint("compared", e.text(n.kids[0])+" "+sign+" "+other+" is "+left.preview()); note != "" {
		e.note(note)
	}
}

// lineThatMatches returns the first line of several that alone makes a comparison of text true, "" for none.
func (e *evaluator) lineThatMatches(n *node, left, right value) string {
	if !isOneOf(n.sign, " contains =~ ") || left.kind != kindString || left.hidden || !strings.Contains(left.str, "\n") {
		return ""
	}
	for line := range strings.Lines(left.str) {
		line = strings.TrimSpace(line)
		if holds, _ := e.compareValues(n, text(line), right); holds {
			return line
		}
	}
	return ""
}

// sayQuantifier explains any and all by the element that decided.
func (e *evaluator) sayQuantifier(n, condition *node, t *tally, v value) {
	if e.why == nil {
		return
	}
	is := e.text(n) + " is " + v.truth().String()
	switch {
	case n.name == "count":
		e.sayTruth(n, v)
	case v.kind == kindUnknown:
		e.sayUnknown(n, v)
	case t.total > 0:
		at := t.at + ": " + e.element(condition, t.element)
		e.say(fmt.Sprintf("%s at %s (%d of %s)", is, at, t.counts[t.decided], words.Count(t.total, "item")))
	default:
		e.say(is + ": the list is empty")
		if (v.truth() == True) != e.negated {
			e.note(is + " because the list is empty")
		}
	}
}

// element explains the condition for one element, in one line.
func (e *evaluator) element(condition *node, element value) string {
	inner := *e.with(element, "")
	inner.why, inner.prefix, inner.negated, inner.hints = &account{}, "", false, nil
	inner.eval(condition)
	e.why.notes = append(e.why.notes, inner.why.notes...)
	return inner.why.lines[0]
}
