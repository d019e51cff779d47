package syntax

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A translator says in the language what a jq program means. It knows the forms
// that people write to ask one question of a list, and translates a program whole
// or not at all: every method returns "" for what it does not know.
type translator struct {
	looked  int  // parts that were looked at
	several bool // jq may answer several times, once for each element
}

// maxTranslated is how long a program may be to be looked at, in bytes, and
// maxLooked how many parts of it are.
const (
	maxTranslated = 2 << 10
	maxLooked     = 200
)

// suggested adds to an error what to write instead of all of its source.
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
	if condition && strings.HasSuffix(strings.TrimRight(text, ")"), "| length") { // which is always true
		hint += " > 0"
	}
	if t.several && condition {
		hint += " if one of them is enough, and all(...) if each must be so"
	}
	if i := strings.LastIndex(e.Hint, "; ."); i >= 0 && strings.HasSuffix(e.Hint, " field") {
		hint += e.Hint[i:] // the other thing that the word may mean
	}
	e.Instead, e.Hint = text, hint
	return e
}

// translate returns an expression that means what src means in jq.
func (t *translator) translate(src string, condition bool) string {
	f := parseJQ(src)
	if f == nil {
		return ""
	}
	if condition {
		if in := f.called("select"); in != nil { // of a document, which is true
			f = in
		}
		return t.condition(f)
	}
	if m := t.meaning(f.stages()); m.kind == meansStream && len(m.conditions) > 0 {
		if first := m.at("0"); first.kind == meansValue {
			return first.text
		}
	}
	return t.value(f)
}

func compiles(src string, condition bool) bool {
	_, _, err := parse(src, condition)
	return err == nil
}

// condition translates what is asked for its truth.
func (t *translator) condition(f *jqForm) string {
	if compiles(f.text, true) {
		return f.text
	}
	if t.looked++; t.looked > maxLooked {
		return ""
	}
	stages := f.stages()
	n := len(stages) - 1
	for _, rule := range [...]func(before []*jqForm, last *jqForm) string{
		t.negated, t.joined, t.quantified, t.selected, t.member, t.compared, t.stream,
	} {
		if text := rule(stages[:n:n], stages[n]); text != "" && compiles(text, true) {
			return text
		}
	}
	if v := t.value(f); compiles(v, true) {
		return v
	}
	return ""
}

// value translates what is asked for its value, as one operand.
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

// negated translates "... | not".
func (t *translator) negated(before []*jqForm, last *jqForm) string {
	if len(before) == 0 || last.text != "not" {
		return ""
	}
	return negated(t.condition(piped(before)))
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

// joined translates the operands of "or" and "and", and what stands in parentheses.
func (t *translator) joined(before []*jqForm, last *jqForm) string {
	word := map[jqKind]string{jqOr: " or ", jqAnd: " and ", jqGroup: ""}
	joint, ok := word[last.kind]
	if !ok || len(before) > 0 {
		return ""
	}
	xs := make([]string, len(last.args))
	for i, arg := range last.args {
		if xs[i] = t.condition(arg); xs[i] == "" {
			return ""
		}
	}
	if last.kind == jqGroup {
		return "(" + xs[0] + ")"
	}
	return strings.Join(xs, joint)
}

// quantified translates any, all and isempty, of a list that is made first or of
// what a path with conditions leads to.
func (t *translator) quantified(before []*jqForm, last *jqForm) string {
	if in := last.called("isempty"); in != nil && len(before) == 0 {
		if m := t.meaning(in.stages()); m.kind == meansStream {
			return m.missing()
		}
	}
	if last.kind != jqCall || last.name != "any" && last.name != "all" {
		return ""
	}
	from, made := before, meansList
	if len(last.args) == 2 && len(before) == 0 {
		from, made = last.args[0].stages(), meansStream
	}
	m := t.meaning(from)
	if m.kind != made {
		return ""
	}
	if n := len(last.args); n > 0 && !m.ask(t.condition(last.args[n-1])) {
		return ""
	}
	return m.quantified(last.name)
}

// selected translates "select(C) | D", where C decides whether there is an answer.
func (t *translator) selected(before []*jqForm, last *jqForm) string {
	for i, stage := range before {
		if in := stage.called("select"); in != nil {
			c, rest := t.condition(in), t.condition(piped(append(before[i+1:], last)))
			if c == "" || rest == "" {
				return ""
			}
			return piped(append(before[:i:i], &jqForm{text: both(c, rest)})).text
		}
	}
	return ""
}

// member translates index("x"), alone or compared with null.
func (t *translator) member(before []*jqForm, last *jqForm) string {
	op := "!="
	if last.kind == jqCompare && last.args[1].text == "null" {
		last, op = last.args[0], last.name
	}
	in := last.called("index")
	if in == nil {
		in = last.called("rindex")
	}
	if in == nil || in.kind != jqConstant || in.text == `""` || len(before) == 0 {
		return ""
	}
	text := t.value(piped(before)) + " contains " + in.text
	switch op {
	case "!=":
		return text
	case "==":
		return negated(text)
	}
	return ""
}

// compared translates a comparison: of two values, or of what comes out of a pipe
// with a constant.
func (t *translator) compared(before []*jqForm, last *jqForm) string {
	if last.kind != jqCompare || len(before) > 0 && last.args[1].kind != jqConstant {
		return ""
	}
	left, right := append(before, last.args[0]), last.args[1]
	switch m := t.meaning(left); {
	case m.kind == meansList && right.text == "[]" && (last.name == "==" || last.name == "!="):
		return m.count() + " " + last.name + " 0"
	case m.kind == meansStream && right.kind == jqConstant && strings.Contains(last.args[0].text, "[]"):
		t.several = true
		m.compare(last.name + " " + right.text)
		return m.quantified("any")
	}
	if l, r := t.value(piped(left)), t.value(right); l != "" && r != "" {
		return l + " " + last.name + " " + r
	}
	return ""
}

// stream translates ".items[] | select(C) | D", which jq answers once for each
// element.
func (t *translator) stream(before []*jqForm, last *jqForm) string {
	m := t.meaning(before)
	if m.kind != meansStream || !m.ask(t.condition(last)) {
		return ""
	}
	t.several = true
	return m.quantified("any")
}

// simpleText matches a comparison of a field with a text that a query makes in the
// same way: gjson takes other texts for numbers, booleans or patterns.
var simpleText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.([A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*) *== *"([A-Za-z][A-Za-z_0-9 .:/-]*)"$`)
})

// asQuery spells a condition on an element as a query, "" if it cannot be one.
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
