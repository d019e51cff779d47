package syntax

import (
	"slices"
	"strings"
)

// elements are what a jq pipeline such as .items[] | select(C) | .name yields.
type elements struct {
	from       string   // the path with []
	conditions []string // what an element must satisfy
	then       string   // what is looked at of it, "" for the element itself
}

// list reads the stages of a list that is built: [.items[] | select(C)], or
// .items | map(select(C)).
func (t *translator) list(parts []string) (l elements, ok bool) {
	if len(parts) == 0 {
		return l, false
	}
	if in, ok := whole(parts[0], "["); ok && strings.HasSuffix(parts[0], "]") {
		if l, ok = t.elements(stages(in)); !ok {
			return l, false
		}
		return l, t.mapped(&l, parts[1:])
	}
	first := slices.IndexFunc(parts, func(s string) bool { return strings.HasPrefix(s, "map(") })
	if first < 0 {
		return l, false
	}
	l.from = "."
	for _, part := range parts[:first] {
		if l.from = joinPaths(l.from, part); l.from == "" {
			return l, false
		}
	}
	l.from = joinPaths(l.from, ".[]")
	return l, l.from != "" && t.mapped(&l, parts[first:])
}

// mapped adds stages of map(...).
func (t *translator) mapped(l *elements, parts []string) bool {
	for _, part := range parts {
		in, ok := whole(part, "map(")
		if !ok || !t.narrowed(l, stages(in)) {
			return false
		}
	}
	return true
}

// elements reads the stages of a pipeline that begins with a path.
func (t *translator) elements(parts []string) (l elements, ok bool) {
	if len(parts) == 0 {
		return l, false
	}
	l.from = joinPaths(".", parts[0])
	rest := parts[1:]
	for !strings.Contains(l.from, "[]") && len(rest) > 0 {
		l.from, rest = joinPaths(l.from, rest[0]), rest[1:]
	}
	if !strings.Contains(l.from, "[]") {
		return t.compareAll(parts)
	}
	return l, t.narrowed(&l, rest)
}

// compareAll reads ".items[].state == "done"", which yields true or false for each.
func (t *translator) compareAll(parts []string) (l elements, ok bool) {
	left, op, right := sides(parts[0])
	if op == "" || len(parts) > 1 || !isConstant(right) {
		return l, false
	}
	if l.from = joinPaths(".", left); !strings.Contains(l.from, "[]") {
		return l, false
	}
	l.compared(op + " " + right)
	return l, true
}

// narrowed adds the stages behind the path: conditions, and what is looked at.
func (t *translator) narrowed(l *elements, parts []string) bool {
	for i, part := range parts {
		if in, ok := whole(part, "select("); ok {
			c := t.condition(in)
			if c == "" {
				return false
			}
			l.conditions = append(l.conditions, l.of(c))
			continue
		}
		switch path := joinPaths(".", part); {
		case path != "" && len(l.conditions) == 0 && l.then == "":
			l.from = joinPaths(l.from, path)
		case path != "" && !strings.Contains(path, "[]") && (l.then == "" || joinPaths(".", l.then) != ""):
			l.then = joinPaths(orDot(l.then), path)
		case i+1 == len(parts):
			c := t.condition(part)
			if c == "" {
				return false
			}
			l.asked(c)
		default:
			return false
		}
	}
	return true
}

// of makes a condition on what is looked at one on the element.
func (l *elements) of(condition string) string {
	switch {
	case l.then == "":
		return condition
	case condition == ".":
		return l.then
	}
	return "(" + l.then + " | " + condition + ")"
}

// asked makes a condition what is looked at.
func (l *elements) asked(condition string) { l.then = l.of(condition) }

// compared asks a comparison of what is looked at; what stands behind the last
// [] of the path goes with it: any(.items[]; .state == "done").
func (l *elements) compared(comparison string) {
	subject := "."
	switch i := strings.LastIndex(l.from, "[]") + len("[]"); {
	case l.then != "":
		subject = l.then
	case len(l.conditions) == 0 && strings.HasPrefix(l.from[i:], "."):
		l.from, subject = l.from[:i], l.from[i:]
	}
	l.then = subject + " " + comparison
}

// count spells how many there are.
func (l *elements) count() string {
	if list, ok := strings.CutSuffix(l.from, "[]"); ok && len(l.conditions) == 0 && !strings.Contains(list, "[]") {
		return "(" + orDot(list) + " | length)"
	}
	return "count(" + l.from + "; " + orTrue(joinConditions(l.conditions)) + ")"
}

// missing asks whether there is none.
func (l *elements) missing() string {
	if len(l.conditions) == 0 {
		return l.count() + " == 0"
	}
	return "!any(" + l.from + "; " + joinConditions(l.conditions) + ")"
}

// quantified asks whether what is looked at is true of any, or of all.
func (l *elements) quantified(name string) string {
	if name == "any" {
		return "any(" + l.from + "; " + joinConditions(append(slices.Clip(l.conditions), orDot(l.then))) + ")"
	}
	text := orDot(l.then)
	if c := joinConditions(l.conditions); c != "" {
		text = negated(c) + " or " + grouped(text)
	}
	return "all(" + l.from + "; " + text + ")"
}

// at is the path of the element with an index, or of the first that a query
// finds, and of what the stages behind lead to.
func (l *elements) at(index string, stages []string) string {
	list, rest, _ := strings.Cut(l.from, "[]")
	found := ""
	switch {
	case len(l.conditions) == 0:
		found = ".[" + index + "]" + rest
	case len(l.conditions) == 1 && index == "0" && rest == "":
		if q := asQuery(l.conditions[0]); q != "" {
			found = "." + q
		}
	}
	path := orDot(list)
	for _, part := range append([]string{found, orDot(l.then)}, stages...) {
		path = joinPaths(path, part)
	}
	if strings.Contains(path, "[]") {
		return ""
	}
	return path
}

func orDot(s string) string {
	if s == "" {
		return "."
	}
	return s
}

func orTrue(s string) string {
	if s == "" {
		return "true"
	}
	return s
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
