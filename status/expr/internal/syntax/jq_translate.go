package syntax

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A translator translates jq programs into the language. It knows the forms that people
// use to ask one question about a list, and translates a program as a whole or not at
// all: every method returns "" for what it does not know.
type translator struct {
	looked  int  // parts that were looked at
	several bool // jq may answer several times, once for each element
}

// maxTranslated is the longest program that is looked at, in bytes, and maxLooked the
// most parts of it.
const (
	maxTranslated = 2 << 10
	maxLooked     = 200
)

// suggested adds to an error what to write instead of the whole source.
func suggested(e *Error, condition bool) *Error {
	if len(e.Source) > maxTranslated {
		return e
	}
	t := &translator{}
	text := t.translate(e.Source, condition)
	if text == "" {
		if !condition {
			e.Hint = valueHint(e.Hint)
		}
		return e
	}
	hint := "write " + text
	if condition && isLength(text) { // which is always true
		hint += " > 0"
	}
	if t.several && condition {
		hint += " if one of them is enough, and all(...) if each must be so"
	}
	if i := strings.LastIndex(e.Hint, "; ."); i >= 0 && strings.HasSuffix(e.Hint, " field") {
		hint += e.Hint[i:] // the other meaning of the word
	}
	e.Instead, e.Hint = text, hint
	return e
}

// isLength reports whether the value of an expression is a length.
func isLength(text string) bool {
	n, _, _ := parse(text, true)
	x, ok := Ungroup(n).(*Pipe)
	if !ok {
		return false
	}
	last, ok := Ungroup(x.Xs[len(x.Xs)-1]).(*Call)
	return ok && last.Function == FuncLength
}

// translate returns an expression that means what src means in jq.
func (t *translator) translate(src string, condition bool) string {
	f := parseJQ(src)
	if f == nil {
		return ""
	}
	if condition {
		if f.kind == jqCall && f.name == "select" && len(f.args) == 1 { // of the document, which is always true
			f = f.args[0]
		}
		return t.condition(f)
	}
	if m := t.meaning(f.stages()); m.kind == meansStream && len(m.conditions) > 0 && m.take("0") {
		return m.text
	}
	return t.value(f)
}

func compiles(src string, condition bool) bool {
	_, _, err := parse(src, condition)
	return err == nil
}

// condition translates a form as a condition.
func (t *translator) condition(f *jqForm) string {
	if t.looked++; t.looked > maxLooked {
		return ""
	}
	if compiles(f.text, true) {
		return f.text
	}
	text := ""
	switch f.kind {
	case jqOr:
		text = t.joined(f.args, " or ")
	case jqAnd:
		text = t.joined(f.args, " and ")
	case jqGroup:
		text = "(" + t.condition(f.args[0]) + ")"
	default:
		m := t.meaning(f.stages())
		text = t.truth(&m)
	}
	if !compiles(text, true) {
		text = t.value(f)
	}
	if !compiles(text, true) {
		return ""
	}
	return text
}

// joined translates the operands of "or" and "and".
func (t *translator) joined(args []*jqForm, joint string) string {
	xs := make([]string, len(args))
	for i, arg := range args {
		c := t.condition(arg)
		if c == "" {
			return ""
		}
		xs[i] = grouped(c)
	}
	return strings.Join(xs, joint)
}

// value translates a form as one operand.
func (t *translator) value(f *jqForm) string {
	if t.looked++; t.looked > maxLooked {
		return ""
	}
	text := f.text
	switch m := t.meaning(f.stages()); {
	case m.kind == meansValue && isDotted(m.text):
		text = m.text
	case compiles(text, false):
	case m.kind == meansValue:
		text = m.text
	default:
		text = piped(f.stages()).text
	}
	return operandText(text)
}

// operandText is an expression as one operand, "" if it does not compile.
func operandText(text string) string {
	switch n, _, err := parse(text, false); n.(type) {
	case *Path, *Literal, *Variable, *Group, *Call:
		return text
	default:
		if err != nil {
			return ""
		}
		return "(" + text + ")"
	}
}

// negated spells the opposite of a condition.
func negated(condition string) string {
	switch n, _, err := parse(condition, true); n := n.(type) {
	case *Negation:
		return n.X.Where().Of(condition)
	case *Call, *Path, *Group:
		return "!" + condition
	default:
		if err != nil {
			return ""
		}
		return "!(" + condition + ")"
	}
}

// simpleText matches a comparison of a field with a text that means the same in a query:
// gjson takes other texts for numbers, booleans or patterns.
var simpleText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.([A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*) *== *"([A-Za-z][A-Za-z_0-9 .:/-]*)"$`)
})

// asQuery spells a condition on an element as a query, "" if that is impossible.
func asQuery(condition string) string {
	m := simpleText().FindStringSubmatch(condition)
	if m == nil || m[2] == "true" || m[2] == "false" {
		return ""
	}
	if _, err := strconv.ParseFloat(m[2], 64); err == nil {
		return ""
	}
	return ".#(" + m[1] + `=="` + m[2] + `")`
}
