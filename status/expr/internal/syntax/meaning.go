package syntax

import (
	"cmp"
	"slices"
	"strings"
)

// A meaning is what the stages of a jq pipe make: one value, the elements of lists
// one after another, such as .items[] | select(C) | .name, or the list of them.
type meaning struct {
	kind meaningKind

	text   string // meansValue: the value
	counts bool   // meansValue: only its length is known

	from       string   // else: the path with []
	conditions []string // what an element must satisfy
	then       string   // what is looked at of it, "" for the element itself
}

type meaningKind uint8

const (
	meansNothing meaningKind = iota // that is known
	meansValue
	meansStream
	meansList
)

// meaning reads stages one after another.
func (t *translator) meaning(stages []*jqForm) meaning {
	m := meaning{kind: meansValue, text: "."}
	for i, f := range stages {
		if !t.stage(&m, f, i+1 == len(stages)) {
			return meaning{}
		}
	}
	if m.counts {
		return meaning{}
	}
	return m
}

// stage adds a stage, and reports whether its meaning is known.
func (t *translator) stage(m *meaning, f *jqForm, last bool) bool {
	starts := m.kind == meansValue && m.text == "."
	switch {
	case m.counts && f.text != "length":
		return false
	case f.kind == jqPath:
		return m.follow(f.text)
	case f.called("map") != nil:
		return t.mapped(m, f.args[0].stages())
	case f.called("select") != nil && m.kind == meansStream:
		c := t.condition(f.args[0])
		m.conditions = append(m.conditions, m.of(c))
		return c != ""
	case starts && f.kind == jqList:
		*m = t.meaning(f.args[0].stages())
		return m.become(meansStream, meansList)
	case starts && f.called("first") != nil:
		return t.taken(m, f, "0")
	case starts && f.called("last") != nil:
		return t.taken(m, f, "-1")
	case f.kind == jqCompare && m.kind == meansValue && f.args[1].kind == jqConstant:
		return m.follow(f.args[0].text) && m.kind == meansStream && m.compare(f.name+" "+f.args[1].text)
	case f.text == "length" && m.kind == meansList:
		*m = meaning{kind: meansValue, text: m.count()}
	case m.kind == meansValue && f.kind == jqCall && isBare(f.name) && len(f.args) == 0:
		m.text, m.counts = m.text+" | "+f.text, false
	case m.kind == meansValue && len(f.args) == 0 && isAsLong(f.name):
		m.counts = true
	case m.kind == meansStream && last:
		return m.ask(t.condition(f))
	case starts && f.kind == jqGroup:
		if *m = t.meaning(f.args[0].stages()); m.kind != meansNothing {
			return true
		}
		*m = meaning{kind: meansValue, text: t.value(f)}
		return m.text != ""
	case starts && f.kind == jqOther:
		m.text = f.text
	default:
		return false
	}
	return true
}

// isAsLong reports whether what a function makes is as long as what it is given.
func isAsLong(function string) bool {
	switch function {
	case "keys", "keys_unsorted", "to_entries", "values", "reverse", "sort":
		return true
	}
	return false
}

// become turns one kind of meaning into another.
func (m *meaning) become(from, to meaningKind) bool {
	ok := m.kind == from
	m.kind = to
	return ok
}

// mapped adds map(...) with stages in it.
func (t *translator) mapped(m *meaning, stages []*jqForm) bool {
	if m.kind == meansValue && !m.follow(".[]") || m.kind == meansList && !m.become(meansList, meansStream) {
		return false
	}
	for i, f := range stages {
		if m.kind != meansStream || !t.stage(m, f, i+1 == len(stages)) {
			return false
		}
	}
	return m.become(meansStream, meansList)
}

// taken is one of the elements that the argument of first or last yields.
func (t *translator) taken(m *meaning, f *jqForm, index string) bool {
	in := t.meaning(f.args[0].stages())
	if in.kind != meansStream {
		return false
	}
	*m = in.at(index)
	return m.kind == meansValue
}

// follow adds a path.
func (m *meaning) follow(path string) bool {
	switch {
	case m.kind == meansList:
		rest, ok := strings.CutPrefix(path, ".[0]")
		if ok {
			*m = m.at("0")
		}
		return ok && m.kind == meansValue && m.follow("."+strings.TrimPrefix(rest, "."))
	case m.kind == meansValue:
		m.text = joinPaths(m.text, path)
		if strings.Contains(m.text, "[]") {
			*m = meaning{kind: meansStream, from: m.text}
		}
		return m.kind == meansStream || m.text != ""
	case len(m.conditions) == 0 && m.then == "":
		m.from = joinPaths(m.from, path)
		return m.from != ""
	}
	m.then = joinPaths(cmp.Or(m.then, "."), path)
	return m.then != "" && !strings.Contains(path, "[]")
}

// of makes a condition on what is looked at one on the element.
func (m *meaning) of(condition string) string {
	switch {
	case m.then == "":
		return condition
	case condition == ".":
		return m.then
	}
	return "(" + m.then + " | " + condition + ")"
}

// ask makes a condition what is looked at, unless it is "".
func (m *meaning) ask(condition string) bool {
	m.then = m.of(condition)
	return condition != ""
}

// compare asks a comparison of what is looked at; what stands behind the last []
// of the path goes with it: any(.items[]; .state == "done").
func (m *meaning) compare(comparison string) bool {
	subject := "."
	switch i := strings.LastIndex(m.from, "[]") + len("[]"); {
	case m.then != "":
		subject = m.then
	case len(m.conditions) == 0 && strings.HasPrefix(m.from[i:], "."):
		m.from, subject = m.from[:i], m.from[i:]
	}
	m.then = subject + " " + comparison
	return true
}

// count spells how many there are.
func (m *meaning) count() string {
	if list, ok := strings.CutSuffix(m.from, "[]"); ok && len(m.conditions) == 0 && !strings.Contains(list, "[]") {
		return "(" + cmp.Or(list, ".") + " | length)"
	}
	return "count(" + m.from + "; " + cmp.Or(joinConditions(m.conditions), "true") + ")"
}

// missing asks whether there is none.
func (m *meaning) missing() string {
	if len(m.conditions) == 0 {
		return m.count() + " == 0"
	}
	return "!any(" + m.from + "; " + joinConditions(m.conditions) + ")"
}

// quantified asks whether what is looked at is true of any, or of all.
func (m *meaning) quantified(name string) string {
	then := cmp.Or(m.then, ".")
	if name == "any" {
		return "any(" + m.from + "; " + joinConditions(append(slices.Clip(m.conditions), then)) + ")"
	}
	if c := joinConditions(m.conditions); c != "" {
		then = negated(c) + " or " + grouped(then)
	}
	return "all(" + m.from + "; " + then + ")"
}

// at is what is looked at of the element with an index, or of the first that a
// query finds.
func (m *meaning) at(index string) meaning {
	list, rest, _ := strings.Cut(m.from, "[]")
	found := ""
	switch {
	case len(m.conditions) == 0:
		found = ".[" + index + "]" + rest
	case len(m.conditions) == 1 && index == "0" && rest == "":
		found = asQuery(m.conditions[0])
	}
	path := joinPaths(joinPaths(cmp.Or(list, "."), found), cmp.Or(m.then, "."))
	if path == "" || strings.Contains(path, "[]") {
		return meaning{}
	}
	return meaning{kind: meansValue, text: path}
}

func joinConditions(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	text := conditions[0]
	for _, c := range conditions[1:] {
		text = both(text, c)
	}
	return text
}

// both joins two conditions.
func both(a, b string) string { return grouped(a) + " and " + grouped(b) }

// grouped puts a condition that binds less than "and" in parentheses.
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

// joinPaths is the path that goes on from a with b, "" unless both are paths that
// begin with a dot.
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

// isDotted reports whether s is a path as jq has it: [] may stand in it.
func isDotted(s string) bool {
	l := lexer{src: s}
	t := l.next()
	return l.err == nil && t.kind == tokPath && !t.path.bare && t.path.Root == RootDot && t.To == len(s)
}
