package jq

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// A speller spells jq programs in the condition language: how many elements satisfy a
// condition, whether any or all do, the element of a name. It spells a program as a whole
// or not at all: every method returns "" for what it does not know.
type speller struct {
	compiles func(src string, condition bool) bool
	several  bool // jq may give several values, one for each element
	looked   int  // parts that were looked at
}

// maxLooked is the most parts of a program that are looked at.
const maxLooked = 200

// Native spells a program in the condition language, "" if it does not know how.
// several is true if the program may give a value for each element of a list. compiles
// reports whether an expression compiles in the condition language.
func Native(src string, condition bool, compiles func(src string, condition bool) bool) (text string, several bool) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	query, err := gojq.Parse(src)
	if err != nil || strings.Contains(src, "?") { // which leaves elements out
		return "", false
	}
	s := &speller{compiles: compiles}
	if condition {
		text = s.condition(query)
	} else if text = s.value(query); text == "" {
		if e, ok := s.elements(stagesOf(query)); ok && len(e.conditions) > 0 {
			text = e.first()
		}
	}
	if !compiles(text, condition) {
		return "", false
	}
	return text, s.several
}

// elements is what a list is made of, or what a program gives one after another: the
// elements at a path with [], those that satisfy the conditions, and what is looked at of
// each.
type elements struct {
	path       string
	conditions []string
	then       string // a path or a condition; "" for the element itself
}

// condition spells a query as a condition.
func (s *speller) condition(q *gojq.Query) string {
	if s.looked++; s.looked > maxLooked {
		return ""
	}
	if text := q.String(); s.compiles(text, true) {
		return text
	}
	q = ungrouped(q)
	switch {
	case q.Op == gojq.OpOr:
		return joined(" or ", s.condition(q.Left), s.condition(q.Right))
	case q.Op == gojq.OpAnd:
		return joined(" and ", s.condition(q.Left), s.condition(q.Right))
	}
	stages := stagesOf(q)
	if f := call(q, "select"); f != nil && len(f.Args) == 1 { // of the document
		return s.condition(f.Args[0])
	}
	if left, op, right := comparison(q); left != nil {
		if v := s.value(left); v != "" {
			return s.checked(v + " " + op + " " + right.String())
		}
	}
	if text := s.quantified(stages); text != "" {
		return s.checked(text)
	}
	if e, ok := s.elements(stages); ok && e.then != "" {
		s.several = true
		return s.checked(e.any())
	}
	return s.checked(s.value(q))
}

// checked is the text, "" if it does not compile.
func (s *speller) checked(text string) string {
	if !s.compiles(text, true) {
		return ""
	}
	return text
}

// value spells a query that gives one value.
func (s *speller) value(q *gojq.Query) string {
	if s.looked++; s.looked > maxLooked {
		return ""
	}
	q = ungrouped(q)
	if text := q.String(); s.compiles(text, false) {
		return "(" + text + ")"
	}
	stages := stagesOf(q)
	last := len(stages) - 1
	if path, ok := joinedPath(stages); ok && !strings.Contains(path, "[]") {
		return path
	}
	if call(stages[last], "length") != nil {
		if e, ok := s.list(stages[:last]); ok {
			return e.count()
		}
		return ""
	}
	return s.element(stages)
}

// element spells the first element of a list, or of those that satisfy a condition, and
// what is looked at of it.
func (s *speller) element(stages []*gojq.Query) string {
	rest := ""
	for i, stage := range slices.Backward(stages) {
		f := call(stage, "first")
		path, isPath := pathOf(stage)
		if after, indexed := strings.CutPrefix(path, ".[0]"); isPath && indexed && i > 0 {
			f, rest = &gojq.Func{}, after+rest
		} else if isPath {
			rest = strings.TrimSuffix(path, ".") + rest
			continue
		}
		var e elements
		ok := false
		switch {
		case f == nil:
		case len(f.Args) == 1 && i == 0:
			e, ok = s.elements(stagesOf(f.Args[0]))
		case len(f.Args) == 0 && i > 0:
			if e, ok = s.list(stages[:i]); !ok {
				e, ok = s.elements(append(slices.Clip(stages[:i]), iterated()))
			}
		}
		if first := e.first(); ok && first != "" {
			return first + rest
		}
		return ""
	}
	return ""
}

// first spells the first element, and what is looked at of it, as far as that is known.
func (e elements) first() string {
	list, inner, _ := strings.Cut(e.path, "[]")
	query := ".[0]"
	if len(e.conditions) > 0 {
		query = asQuery(e.conditions[0])
	}
	known := query != "" && len(e.conditions) <= 1 && (len(e.conditions) == 0 || inner == "")
	if !known || strings.Contains(inner, "[]") || strings.Contains(e.then, " ") {
		return ""
	}
	return joinPaths(list, query) + inner + e.then
}

// quantified spells any and all, of a list or with arguments.
func (s *speller) quantified(stages []*gojq.Query) string {
	last := len(stages) - 1
	f := call(stages[last], "any", "all")
	if f == nil {
		return ""
	}
	e, ok := s.list(stages[:last])
	if !ok || len(f.Args) > 1 {
		return ""
	}
	if len(f.Args) > 0 {
		c := s.condition(f.Args[len(f.Args)-1])
		if c == "" {
			return ""
		}
		if c == "." {
			c = e.then
		} else if e.then != "" {
			c = e.then + " | " + c
		}
		e.then = c
	}
	if f.Name == "any" {
		return e.any()
	}
	return e.all()
}

// list understands a list: [...], or a path | map(...).
func (s *speller) list(stages []*gojq.Query) (elements, bool) {
	if len(stages) == 0 {
		return elements{}, false
	}
	last := stages[len(stages)-1]
	if t := last.Term; len(stages) == 1 && t != nil && t.Type == gojq.TermTypeArray && t.Array.Query != nil && len(t.SuffixList) == 0 {
		return s.elements(stagesOf(t.Array.Query))
	}
	f := call(last, "map")
	if f == nil || len(f.Args) != 1 {
		return elements{}, false
	}
	from := append(slices.Clip(stages[:len(stages)-1]), iterated())
	return s.elements(append(from, stagesOf(f.Args[0])...))
}

// elements understands a path with [], stages of select, and what is looked at at last.
func (s *speller) elements(stages []*gojq.Query) (e elements, ok bool) {
	if len(stages) == 0 {
		return e, false
	}
	if left, op, right := comparison(piped(stages)); left != nil && isConstant(right) {
		e, ok = s.elements(stagesOf(left)) // .items[].n == 1
		isPath := e.then == "" || e.then[0] == '.' && !strings.Contains(e.then, " ")
		e.then = cmp.Or(e.then, ".") + " " + op + " " + right.String()
		return e, ok && isPath
	}
	for len(stages) > 0 {
		path, isPath := pathOf(stages[0])
		if !isPath || strings.Contains(e.path, "[]") && e.path[len(e.path)-1] != ']' {
			break
		}
		e.path = joinPaths(e.path, path)
		stages = stages[1:]
	}
	for len(stages) > 0 {
		f := call(stages[0], "select")
		if f == nil || len(f.Args) != 1 {
			break
		}
		c := s.condition(f.Args[0])
		if c == "" {
			return e, false
		}
		e.conditions = append(e.conditions, c)
		stages = stages[1:]
	}
	if len(stages) > 0 {
		if path, isPath := joinedPath(stages); isPath {
			e.then = path
		} else if e.then = s.condition(piped(stages)); e.then == "" {
			return e, false
		}
	}
	if len(e.conditions) == 0 && e.then == "" {
		e.split()
	}
	return e, strings.Contains(e.path, "[]") && !strings.Contains(e.then, "[]")
}

// split makes what follows the last [] of the path what is looked at.
func (e *elements) split() {
	i := strings.LastIndex(e.path, "[]") + len("[]")
	if i >= len("[]") && i < len(e.path) && e.path[i] == '.' {
		e.path, e.then = e.path[:i], e.path[i:]
	}
}

// any spells the condition that what is looked at is true of any element.
func (e elements) any() string {
	return "any(" + e.path + "; " + joined(" and ", append(slices.Clip(e.conditions), cmp.Or(e.then, "."))...) + ")"
}

// all spells the condition that it is true of all.
func (e elements) all() string {
	then := cmp.Or(e.then, ".")
	if len(e.conditions) > 0 {
		then = joined(" or ", "!("+joined(" and ", e.conditions...)+")", then)
	}
	return "all(" + e.path + "; " + then + ")"
}

// count spells the number of elements.
func (e elements) count() string {
	path, c := e.path, "true"
	if len(e.conditions) > 0 {
		c = joined(" and ", e.conditions...)
	} else if strings.HasPrefix(e.then, ".") && !strings.Contains(e.then, " ") {
		path += e.then
	}
	return "count(" + path + "; " + c + ")"
}

// joined joins conditions, "" if one of them is.
func joined(joint string, conditions ...string) string {
	if slices.Contains(conditions, "") {
		return ""
	}
	if len(conditions) == 1 {
		return conditions[0]
	}
	conditions = slices.Clone(conditions)
	for i, c := range conditions {
		if strings.Contains(c, "|") || strings.Contains(c, "//") || strings.Contains(c, " or ") && joint != " or " {
			conditions[i] = "(" + c + ")"
		}
	}
	return strings.Join(conditions, joint)
}

// stagesOf are the parts of a pipe, or the query alone. A call or a group with a path
// after it is two.
func stagesOf(q *gojq.Query) []*gojq.Query {
	switch t := q.Term; {
	case len(q.FuncDefs) > 0:
	case q.Op == gojq.OpPipe && q.Patterns == nil:
		return append(stagesOf(q.Left), stagesOf(q.Right)...)
	case t == nil:
	case t.Type == gojq.TermTypeQuery && len(t.SuffixList) == 0:
		if inner := ungrouped(q); inner.Op == gojq.OpPipe || inner.Term != nil {
			return stagesOf(inner)
		}
	case (t.Type == gojq.TermTypeFunc || t.Type == gojq.TermTypeQuery || t.Type == gojq.TermTypeArray) && len(t.SuffixList) > 0:
		alone, path := *t, gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: t.SuffixList}
		if first := t.SuffixList[0]; first.Index != nil {
			path = gojq.Term{Type: gojq.TermTypeIndex, Index: first.Index, SuffixList: t.SuffixList[1:]}
		}
		alone.SuffixList = nil
		return append(stagesOf(&gojq.Query{Term: &alone}), &gojq.Query{Term: &path})
	}
	return []*gojq.Query{q}
}

// piped is the pipe of stages.
func piped(stages []*gojq.Query) *gojq.Query {
	if len(stages) == 1 {
		return stages[0]
	}
	return &gojq.Query{Left: stages[0], Op: gojq.OpPipe, Right: piped(stages[1:])}
}

// iterated is .[].
func iterated() *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: []*gojq.Suffix{{Iter: true}}}}
}

// call is the call of one of the functions, nil if q is none.
func call(q *gojq.Query, names ...string) *gojq.Func {
	if t := q.Term; t != nil && t.Type == gojq.TermTypeFunc && len(t.SuffixList) == 0 && slices.Contains(names, t.Func.Name) {
		return t.Func
	}
	return nil
}

// pathOf is the text of a path with its dot, which may contain [].
func pathOf(q *gojq.Query) (string, bool) {
	t := q.Term
	if t == nil || len(q.FuncDefs) > 0 || t.Type != gojq.TermTypeIdentity && t.Type != gojq.TermTypeIndex {
		return "", false
	}
	text := q.String()
	return text, !strings.ContainsAny(text, `?\`) && !strings.Contains(text, ":")
}

// joinedPath is the path that stages of paths make.
func joinedPath(stages []*gojq.Query) (path string, ok bool) {
	for _, stage := range stages {
		part, isPath := pathOf(stage)
		if !isPath {
			return "", false
		}
		path = joinPaths(path, part)
	}
	return path, path != ""
}

// joinPaths is the path a continued by b.
func joinPaths(a, b string) string {
	switch {
	case a == "" || a == ".":
		return b
	case strings.HasPrefix(b, ".["):
		return a + b[1:]
	}
	return strings.TrimSuffix(a+b, ".")
}

// simpleText matches a comparison of a field with a text that means the same in a query:
// gjson takes other texts for numbers, booleans or patterns.
var simpleText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.([A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*) == "([A-Za-z][A-Za-z_0-9 .:/-]*)"$`)
})

// asQuery spells a condition on an element as a query, "" if that is impossible.
func asQuery(condition string) string {
	m := simpleText().FindStringSubmatch(condition)
	if m == nil || slices.Contains([]string{"true", "false", "inf", "infinity", "nan"}, strings.ToLower(m[2])) {
		return ""
	}
	return ".#(" + m[1] + `=="` + m[2] + `")`
}
