package syntax

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A translator says in the language what a text means in jq. It knows the forms
// that people write to ask one question of a list, and translates a text whole
// or not at all: every method returns "" for what it does not know.
type translator struct {
	asked   int  // parts that were looked at
	several bool // jq may answer several times, once for each element
}

// maxTranslated is how long a text may be to be looked at, in bytes, and
// maxAsked how many parts of it are.
const (
	maxTranslated = 2 << 10
	maxAsked      = 200
)

// suggested adds to an error what to write instead of all of its source.
func suggested(e *Error, condition bool) *Error {
	if len(e.Source) > maxTranslated {
		return e
	}
	t := &translator{}
	text := t.translate(strings.TrimSpace(e.Source), condition)
	if text == "" || !compiles(text, condition) {
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
		hint += e.Hint[i:] // the other thing that the word may mean
	}
	e.Instead, e.Hint = text, hint
	return e
}

// isLength reports whether the value of an expression is a length.
func isLength(src string) bool {
	n, _, err := parse(src, true)
	if err != nil {
		return false
	}
	made, ok := LastStage(n).(*Call)
	return ok && made.Function == FuncLength
}

// translate is an expression that means what src means in jq.
func (t *translator) translate(src string, condition bool) string {
	if condition {
		if in, ok := whole(src, "select("); ok { // of a document, which is true
			return t.condition(in)
		}
		return t.condition(src)
	}
	if l, ok := t.elements(stages(src)); ok && len(l.conditions) > 0 {
		return l.at("0", nil)
	}
	return t.value(src)
}

func compiles(src string, condition bool) bool {
	_, _, err := parse(src, condition)
	return err == nil
}

// condition translates a text whose truth is asked for.
func (t *translator) condition(s string) string {
	if compiles(s, true) {
		return s
	}
	if t.asked++; t.asked > maxAsked {
		return ""
	}
	parts := stages(s)
	for _, form := range [...]func(parts []string) string{t.negated, t.logic, t.grouped, t.quantified, t.selected, t.member, t.compared, t.stream} {
		if len(parts) == 0 {
			return ""
		}
		if text := form(parts); text != "" && compiles(text, true) {
			return text
		}
	}
	if v := t.value(s); compiles(v, true) {
		return v
	}
	return ""
}

// negated translates "... | not".
func (t *translator) negated(parts []string) string {
	n := len(parts) - 1
	if n == 0 || parts[n] != "not" {
		return ""
	}
	return negated(t.condition(joined(parts[:n])))
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

// logic translates the operands of "or" and "and".
func (t *translator) logic(parts []string) string {
	if len(parts) > 1 {
		return ""
	}
	for _, word := range [...]string{"or", "and"} {
		xs := operands(parts[0], word)
		if len(xs) < 2 {
			continue
		}
		for i, x := range xs {
			if xs[i] = t.condition(x); xs[i] == "" {
				return ""
			}
		}
		return strings.Join(xs, " "+word+" ")
	}
	return ""
}

func (t *translator) grouped(parts []string) string {
	if in, ok := whole(parts[0], "("); ok && len(parts) == 1 {
		if c := t.condition(in); c != "" {
			return "(" + c + ")"
		}
	}
	return ""
}

// quantified translates any, all and isempty, of a list that is made first or of
// what a path with conditions leads to.
func (t *translator) quantified(parts []string) string {
	last := parts[len(parts)-1]
	for _, name := range [...]string{"any", "all"} {
		if last == name {
			if l, ok := t.list(parts[:len(parts)-1]); ok {
				return l.quantified(name)
			}
		}
		in, ok := whole(last, name+"(")
		if !ok {
			continue
		}
		args := cutTop(in, semicolon)
		l, found := elements{}, false
		if len(parts) == 1 && len(args) == 2 {
			l, found = t.elements(stages(args[0]))
		} else if len(args) == 1 {
			l, found = t.list(parts[:len(parts)-1])
		}
		if c := t.condition(args[len(args)-1]); found && c != "" {
			l.asked(c)
			return l.quantified(name)
		}
	}
	if in, ok := whole(last, "isempty("); ok && len(parts) == 1 {
		if l, ok := t.elements(stages(in)); ok {
			return l.missing()
		}
	}
	return ""
}

func semicolon(s string, i int) int {
	if s[i] == ';' {
		return 1
	}
	return 0
}

// selected translates "select(C) | D", where C decides whether there is an answer.
func (t *translator) selected(parts []string) string {
	for i, part := range parts {
		in, ok := whole(part, "select(")
		if !ok || i+1 == len(parts) {
			continue
		}
		text, rest := t.condition(in), t.condition(joined(parts[i+1:]))
		if text == "" || rest == "" {
			return ""
		}
		return joined(append(parts[:i:i], both(text, rest)))
	}
	return ""
}

// member translates index("x"), alone or compared with null.
func (t *translator) member(parts []string) string {
	n := len(parts) - 1
	last, op, right := parts[n], "", ""
	if left, sign, r := sides(last); sign != "" {
		last, op, right = left, sign, r
	}
	for _, name := range [...]string{"index(", "rindex("} {
		in, ok := whole(last, name)
		if !ok || n == 0 || !isText(in) || op != "" && right != "null" {
			continue
		}
		v := t.value(joined(parts[:n]))
		switch {
		case v == "":
		case op == "" || op == "!=":
			return v + " contains " + in
		case op == "==":
			return negated(v + " contains " + in)
		}
	}
	return ""
}

// isText reports whether s is a text in quotes that is not empty.
func isText(s string) bool {
	n, _, err := parse(s, false)
	l, ok := n.(*Literal)
	return err == nil && ok && l.Kind == String && l.Text != ""
}

// compared translates a comparison: of two values, or of what comes out of a pipe
// with a constant.
func (t *translator) compared(parts []string) string {
	n := len(parts) - 1
	left, op, right := sides(parts[n])
	if op == "" || n > 0 && !isConstant(right) {
		return ""
	}
	before := append(parts[:n:n], left)
	if right == "[]" && (op == "==" || op == "!=") {
		if l, ok := t.list(before); ok {
			return l.count() + " " + op + " 0"
		}
	}
	if l, r := t.value(joined(before)), t.value(right); l != "" && r != "" {
		return l + " " + op + " " + r
	}
	return ""
}

func isConstant(s string) bool {
	n, _, err := parse(s, false)
	_, ok := n.(*Literal)
	return err == nil && ok
}

// stream translates ".items[] | select(C) | D", which jq answers once for each
// element.
func (t *translator) stream(parts []string) string {
	n := len(parts) - 1
	left, op, right := sides(parts[n])
	if op != "" && isConstant(right) && strings.Contains(left, "[]") {
		if parts = append(parts[:n:n], left); left[0] != '.' {
			return ""
		}
		if l, ok := t.elements(parts); ok {
			t.several = true
			l.compared(op + " " + right)
			return l.quantified("any")
		}
	}
	if n == 0 {
		return ""
	}
	if l, ok := t.elements(parts[:n]); ok {
		if c := t.condition(parts[n]); c != "" {
			t.several = true
			l.asked(c)
			return l.quantified("any")
		}
	}
	return ""
}

// value translates a text whose value is asked for, as one operand.
func (t *translator) value(s string) string {
	if t.asked++; t.asked > maxAsked {
		return ""
	}
	if in, ok := whole(s, "("); ok && !compiles(s, false) {
		return t.value(in)
	}
	text := s
	if !compiles(s, false) {
		text = t.other(stages(s))
	}
	n, _, err := parse(text, false)
	if err != nil {
		return ""
	}
	switch n.(type) {
	case *Path, *Literal, *Variable, *Group, *Call:
		return text
	}
	return "(" + text + ")"
}

// other translates a value that the language spells in another way.
func (t *translator) other(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	n := len(parts) - 1
	switch {
	case n == 0 && bareFunction(parts[0]) != 0:
		return ". | " + parts[0]
	case parts[n] == "length":
		if l, ok := t.list(parts[:n]); ok {
			return l.count()
		}
		if n > 0 && sameLength(parts[n-1]) {
			return t.length(parts[:n-1])
		}
	}
	if text := t.pick(parts); text != "" {
		return text
	}
	text, path := make([]string, len(parts)), "."
	for i, part := range parts {
		text[i] = atIndex(part)
		path = joinPaths(path, text[i])
	}
	if path != "" {
		return path
	}
	return joined(text)
}

// sameLength reports whether what a function makes is as long as what it is given.
func sameLength(name string) bool {
	switch name {
	case "keys", "keys_unsorted", "to_entries", "values", "reverse", "sort":
		return true
	}
	return false
}

func (t *translator) length(parts []string) string {
	if len(parts) == 0 {
		return ". | length"
	}
	if v := t.value(joined(parts)); v != "" {
		return v + " | length"
	}
	return ""
}

// atIndex spells first and last as the indices that they are, with what follows.
func atIndex(s string) string {
	for _, of := range [...]struct{ name, index string }{{"first", ".[0]"}, {"last", ".[-1]"}} {
		if rest, ok := strings.CutPrefix(s, of.name); ok && (rest == "" || strings.ContainsRune(" .[=!<>", rune(rest[0]))) {
			return of.index + rest
		}
	}
	if in, rest, ok := inside(s, "nth("); ok && rawjson.IsDigits(in) {
		return ".[" + in + "]" + rest
	}
	return s
}

// pick translates first(.items[] | select(.name == "x")).state and its kin.
func (t *translator) pick(parts []string) string {
	for _, of := range [...]struct{ open, index string }{{"first(", "0"}, {"last(", "-1"}} {
		if in, ok := whole(parts[0], of.open); ok {
			if l, ok := t.elements(stages(in)); ok {
				return l.at(of.index, parts[1:])
			}
		}
	}
	for i := len(parts) - 1; i > 0; i-- {
		rest, ok := strings.CutPrefix(atIndex(parts[i]), ".[0]")
		if !ok {
			continue
		}
		if l, ok := t.list(parts[:i]); ok {
			return l.at("0", append([]string{"." + strings.TrimPrefix(rest, ".")}, parts[i+1:]...))
		}
	}
	return ""
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
	return "#(" + m[1] + `=="` + m[2] + `")`
}
