package syntax

import (
	"cmp"
	"slices"
	"strings"
)

// A meaning is what the stages of a jq pipe yield: a value, a condition, the elements of
// lists one after another, such as .items[] | select(C) | .name, or their list.
type meaning struct {
	kind meaningKind
	text string // except for elements

	from       string   // for elements the path with [], for meansMaybe the value
	conditions []string // what an element must satisfy
	then       string   // what is looked at of it, "" for the element itself
}

type meaningKind uint8

const (
	meansNothing   meaningKind = iota // that is known
	meansValue                        // one value
	meansLength                       // a value of which only the length is known
	meansIndex                        // a condition, null where it is false
	meansCondition                    // true or false
	meansMaybe                        // a value, if it satisfies the conditions
	meansStream                       // elements
	meansList                         // the list of elements
)

// meaning returns the meaning of stages.
func (t *translator) meaning(stages []*jqForm) meaning {
	m := meaning{kind: meansValue, text: "."}
	if !t.stages(&m, stages) {
		return meaning{}
	}
	return m
}

// stages adds stages, and reports whether their meaning is known.
func (t *translator) stages(m *meaning, stages []*jqForm) bool {
	for i, f := range stages {
		if rest := stages[i:]; m.eachOne() && f.name != "select" && rest[len(rest)-1].kind != jqPath {
			if c := t.asked(rest); c != "" {
				return m.ask(c)
			}
		}
		if !t.stage(m, f) {
			return false
		}
	}
	return true
}

// asked translates stages that are a condition on each element. They must yield one
// answer for each element, the same as the condition.
func (t *translator) asked(stages []*jqForm) (condition string) {
	for _, f := range stages {
		if f.kind == jqCall && oneOf(f.name, "select index rindex") {
			return ""
		}
	}
	several := t.several
	t.several = false
	if condition = t.condition(piped(stages)); t.several {
		condition = ""
	}
	t.several = several
	return condition
}

// stage adds a stage, and reports whether its meaning is known.
func (t *translator) stage(m *meaning, f *jqForm) bool {
	switch {
	case f.kind == jqPath:
		return m.follow(f.text)
	case f.kind == jqCompare:
		return t.compared(m, f.args[0].stages(), f.name, f.args[1])
	case f.kind == jqCall && len(f.args) == 0:
		return t.applied(m, f.name)
	case f.kind == jqCall:
		return t.called(m, f)
	case !m.isInput():
		return false
	case f.kind == jqList:
		*m = t.meaning(f.args[0].stages())
		return m.become(meansStream, meansList)
	case f.kind == jqGroup:
		*m = t.meaning(f.args[0].stages())
		if m.kind == meansNothing {
			*m = meaning{kind: meansValue, text: t.value(f)}
		}
		return m.text != "" || m.kind >= meansMaybe
	}
	m.text = f.text
	return true
}

// isInput reports whether no stage has been added yet.
func (m *meaning) isInput() bool { return m.kind == meansValue && m.text == "." }

// eachOne reports whether what follows applies to each element.
func (m *meaning) eachOne() bool { return m.kind == meansStream || m.kind == meansMaybe }

// become turns one kind of meaning into another.
func (m *meaning) become(from, to meaningKind) bool {
	ok := m.kind == from
	m.kind = to
	return ok
}

// compared adds a comparison: of a value, of an index with null, of a list with the
// empty one, or of the elements that its left side makes.
func (t *translator) compared(m *meaning, left []*jqForm, op string, right *jqForm) bool {
	starts := m.isInput()
	if !t.stages(m, left) {
		return false
	}
	constant := right.kind == jqConstant
	equal, unequal := op == "==", op == "!="
	text := ""
	switch {
	case m.kind == meansValue && (constant || starts):
		if r := t.value(right); r != "" {
			text = operandText(m.text) + " " + op + " " + r
		}
	case m.kind == meansIndex && right.text == "null" && equal:
		text = negated(m.text)
	case m.kind == meansIndex && right.text == "null" && unequal:
		text = m.text
	case m.kind == meansList && right.text == "[]" && (equal || unequal):
		text = m.count() + " " + op + " 0"
	case m.kind == meansStream && constant:
		m.compare(op + " " + right.text)
		return true
	}
	*m = meaning{kind: meansCondition, text: text}
	return text != ""
}

// applied adds a function without arguments.
func (t *translator) applied(m *meaning, name string) bool {
	switch {
	case name == "length" && m.kind == meansList:
		*m = meaning{kind: meansValue, text: m.count()}
	case name == "length" && m.kind == meansLength, m.kind == meansValue && isBare(name) && name != "not":
		*m = meaning{kind: meansValue, text: m.text + " | " + name}
	case (name == "any" || name == "all") && m.kind == meansList:
		*m = meaning{kind: meansCondition, text: m.quantified(name)}
	case name == "not":
		*m = meaning{kind: meansCondition, text: negated(t.truth(m))}
		return m.text != ""
	case m.kind == meansValue && oneOf(name, "keys keys_unsorted to_entries values reverse sort"):
		m.kind = meansLength // which does not change
	default:
		return false
	}
	return true
}

// called adds a function with arguments.
func (t *translator) called(m *meaning, f *jqForm) bool {
	starts, in := m.isInput(), f.args[0].stages()
	switch f.name {
	case "select":
		if m.kind == meansValue {
			*m = meaning{kind: meansMaybe, from: m.text}
		}
		c := t.condition(f.args[0])
		m.conditions = append(m.conditions, m.of(c))
		return c != "" && m.eachOne()
	case "map":
		if m.kind == meansList {
			m.kind = meansStream
		} else if m.kind != meansValue || !m.follow(".[]") {
			return false
		}
		return t.stages(m, in) && m.become(meansStream, meansList)
	case "first", "last":
		*m = t.meaning(in)
		index := map[string]string{"first": "0", "last": "-1"}[f.name]
		return starts && m.take(index)
	case "isempty":
		*m = t.meaning(in)
		if !starts || m.kind != meansStream {
			return false
		}
		*m = meaning{kind: meansCondition, text: m.missing()}
	case "any", "all":
		if len(f.args) == 2 {
			*m = t.meaning(in)
			if !starts || !m.become(meansStream, meansList) {
				return false
			}
		}
		if m.kind != meansList || !m.ask(t.condition(f.args[len(f.args)-1])) {
			return false
		}
		*m = meaning{kind: meansCondition, text: m.quantified(f.name)}
	case "index", "rindex":
		if m.kind != meansValue || f.args[0].kind != jqConstant || f.args[0].text == `""` {
			return false
		}
		*m = meaning{kind: meansIndex, text: operandText(m.text) + " contains " + f.args[0].text}
	default:
		return false
	}
	return true
}

// truth spells a meaning as a condition, "" if it is not one.
func (t *translator) truth(m *meaning) string {
	switch {
	case m.kind == meansValue:
		return operandText(m.text)
	case m.kind == meansIndex || m.kind == meansCondition:
		return m.text
	case !m.eachOne() || m.subject() == "":
		return ""
	}
	t.several = t.several || m.kind == meansStream
	return m.quantified("any")
}

// take reduces elements to the one at an index or, if they have a condition, to the first
// that a query finds. It reports whether that leaves one value.
func (m *meaning) take(index string) bool {
	list, rest, _ := strings.Cut(m.from, "[]")
	found := ""
	switch {
	case m.kind != meansStream && m.kind != meansList:
		return m.kind == meansValue
	case len(m.conditions) == 0:
		found = ".[" + index + "]" + rest
	case len(m.conditions) == 1 && index == "0" && rest == "":
		found = asQuery(m.conditions[0])
	}
	path := joinPaths(joinPaths(cmp.Or(list, "."), found), cmp.Or(m.then, "."))
	*m = meaning{kind: meansValue, text: path}
	return path != "" && !strings.Contains(path, "[]")
}

// follow adds a path.
func (m *meaning) follow(path string) bool {
	switch {
	case m.kind == meansList:
		rest, ok := strings.CutPrefix(path, ".[0]")
		return ok && m.take("0") && m.follow("."+strings.TrimPrefix(rest, "."))
	case m.kind == meansValue:
		m.text = joinPaths(m.text, path)
		if strings.Contains(m.text, "[]") {
			*m = meaning{kind: meansStream, from: m.text}
		}
		return m.kind == meansStream || m.text != ""
	case !m.eachOne():
		return false
	case len(m.conditions) == 0 && m.then == "":
		m.from = joinPaths(m.from, path)
		return m.from != ""
	}
	m.then = joinPaths(cmp.Or(m.then, "."), path)
	return m.then != "" && !strings.Contains(path, "[]")
}

// of turns a condition on what is looked at into one on the element.
func (m *meaning) of(condition string) string {
	switch {
	case m.then == "":
		return condition
	case condition == ".":
		return m.then
	}
	return "(" + m.then + " | " + condition + ")"
}

// ask makes a condition what is looked at, and reports whether it is not "".
func (m *meaning) ask(condition string) bool {
	m.then = m.of(condition)
	return condition != ""
}

// compare adds a comparison to what is looked at.
func (m *meaning) compare(comparison string) { m.then = cmp.Or(m.subject(), ".") + " " + comparison }

// subject is what is looked at, including what follows the last [] of the path:
// any(.items[]; .state == "done").
func (m *meaning) subject() string {
	if i := strings.LastIndex(m.from, "[]") + len("[]"); m.then == "" && len(m.conditions) == 0 && strings.HasPrefix(m.from[i:], ".") {
		m.from, m.then = m.from[:i], m.from[i:]
	}
	return m.then
}

// count spells the number of elements.
func (m *meaning) count() string {
	if list, ok := strings.CutSuffix(m.from, "[]"); ok && len(m.conditions) == 0 && !strings.Contains(list, "[]") {
		return "(" + cmp.Or(list, ".") + " | length)"
	}
	return "count(" + m.from + "; " + cmp.Or(joinConditions(m.conditions), "true") + ")"
}

// missing spells the condition that there are no elements.
func (m *meaning) missing() string {
	if len(m.conditions) == 0 {
		return m.count() + " == 0"
	}
	return "!any(" + m.from + "; " + joinConditions(m.conditions) + ")"
}

// quantified spells the condition that what is looked at is true of any, or of all.
func (m *meaning) quantified(name string) string {
	then := cmp.Or(m.then, ".")
	if m.kind == meansMaybe {
		text := joinConditions(append(slices.Clip(m.conditions), then))
		return strings.TrimPrefix(m.from+" | "+text, ". | ")
	}
	if name == "any" {
		return "any(" + m.from + "; " + joinConditions(append(slices.Clip(m.conditions), then)) + ")"
	}
	if c := joinConditions(m.conditions); c != "" {
		then = negated(c) + " or " + grouped(then)
	}
	return "all(" + m.from + "; " + then + ")"
}

// joinConditions joins conditions with "and".
func joinConditions(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	xs := make([]string, len(conditions))
	for i, c := range conditions {
		xs[i] = grouped(c)
	}
	return strings.Join(xs, " and ")
}

// grouped puts a condition that binds more loosely than "and" in parentheses.
func grouped(s string) string {
	n, _, err := parse(s, false)
	if err != nil {
		return "(" + s + ")"
	}
	switch x := n.(type) {
	case *Pipe, *Alternative:
		return "(" + s + ")"
	case *Logic:
		if x.Or {
			return "(" + s + ")"
		}
	}
	return s
}

// joinPaths is the path a continued by b, "" unless both are paths that begin with a dot.
func joinPaths(a, b string) string {
	if !isDotted(a) || !isDotted(b) {
		return ""
	}
	switch {
	case a == ".":
		return b
	case b == ".":
		return a
	case strings.HasPrefix(b, ".["):
		return a + b[1:]
	}
	return a + b
}

// isDotted reports whether s is a path as in jq, which may contain [].
func isDotted(s string) bool {
	l := lexer{src: s}
	t := l.next()
	return l.err == nil && t.kind == tokPath && !t.path.bare && t.path.Root == RootDot && t.To == len(s)
}
