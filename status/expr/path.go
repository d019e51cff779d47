package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// A path leads to a value. It starts at ".", at a variable, or at "..", the list of all documents.
type path struct {
	from, to int    // offsets in the source
	root     string // where the path starts: "" for ".", ".." for the list of all documents, or the name of a variable without its $
	field    string // the header field that $header reads
	bare     bool   // the path is written without a leading dot, as in gjson
	steps    []step
}

// A stepKind is a kind of step in a path.
type stepKind uint8

const (
	stepField    stepKind = iota // .name, ["name"], .0
	stepIndex                    // [n], for lists only
	stepEach                     // [], every element or member
	stepCount                    // #, the number of elements
	stepMap                      // #.x, the list of the field x of every element
	stepFirst                    // #(...), the first element that meets a query
	stepAll                      // #(...)#, the list of all elements that meet a query
	stepModifier                 // @name, a gjson modifier
)

// A step is one part of a path, such as a name or an index.
type step struct {
	kind     stepKind
	from, to int

	key     string // stepField: the name; stepModifier: the name and the argument
	indexes bool   // stepField: the name is a number, as in .0, so it is an index or a key
	pattern string // stepField: the name, if it contains wildcards
	n       int    // stepIndex: the index, which may be negative
	query   *query // stepFirst and stepAll: the query
	sub     []step // stepMap, stepAll: the steps that are applied to each element
}

// isList reports whether the path can only lead to a list. As a condition, a list would always be true.
func (p *path) isList() (list bool) {
	for i := range p.steps {
		s := &p.steps[i]
		name, _, _ := strings.Cut(s.key, ":")
		keeps := s.kind == stepModifier && isOneOf(name, " reverse flatten this valid ")
		makes := s.kind == stepModifier && isOneOf(name, " keys values group ")
		list = s.kind == stepMap || s.kind == stepAll || makes || list && keeps
	}
	return list
}

// nextEach returns the index of the first [] in steps, or -1 if steps contains no [].
func nextEach(steps []step) int {
	return slices.IndexFunc(steps, func(s step) bool { return s.kind == stepEach })
}

// before returns the source of the path up to the step s, or "" if s is the first step.
func (p *path) before(s *step, src string) string {
	return strings.TrimRight(src[p.from:s.from], ".|")
}

// The forms of names in a path. In a path without a leading dot, a name may contain wildcards, and a digit may
// follow a hyphen.
var (
	stepName = words.Pattern(`^(?:[\pL_]|\\.)(?:[\pL\pNd_]|\\.|-(?:[\pL_]|\\.))*`)
	bareName = words.Pattern(`^(?:[\pL_*?]|\\.)(?:[\pL\pNd_*?]|\\.|-(?:[\pL\pNd_]|\\.))*`)
	escaped  = words.Pattern(`\\(.)`)

	wholeNumber = words.Pattern(`^-?\d+`)
)

// path parses the path at the current position. The path ends before the first character that cannot belong to it.
func (p *parser) path() *path {
	q := &path{from: p.pos}
	switch rest := p.src[p.pos:]; {
	case rest[0] == '$':
		if p.variable(q); !isOneOf(q.root, documents) {
			q.to = p.pos
			return q
		}
	case strings.HasPrefix(rest, ".."):
		q.root = ".."
		p.pos += len("..")
		if c := p.at(p.pos); c == '#' || isDigit(c) {
			q.steps = append(q.steps, p.step(q))
		} else {
			isAll := p.list && (c == '[' || p.space(p.pos) == len(p.src))
			p.rejectIf(!isAll, "dot", "..", q.from)
		}
	case rest[0] != '.':
		q.bare = true
		q.steps = append(q.steps, p.step(q))
	default:
		next := p.at(p.pos + 1)
		p.rejectIf(isDigit(next), "dot", rest, p.pos)
		if !p.startsStep(false, p.pos+1) && next != '$' && !isQuote(next) {
			p.pos++ // the path is a dot alone
		}
	}
	q.steps = p.steps(q, q.steps, false)
	q.to = p.pos
	return q
}

// variable parses $name or $header.NAME into q.root and q.field.
func (p *parser) variable(q *path) {
	q.root = p.word(p.pos + 1)
	p.rejectIf(!isOneOf(q.root, variables), "variable", p.src[p.pos:], p.pos)
	p.pos += len("$" + q.root)
	if q.root == "header" {
		q.field = p.member(fieldName)
		p.rejectIf(q.field == "", "variable", "$header", q.from)
	}
}

// startsStep reports whether a name, or a step of gjson such as # or @reverse, starts at offset i. If bare is
// true, a name may start with a wildcard.
func (p *parser) startsStep(bare bool, i int) bool {
	c := p.at(i)
	return c == '#' || c == '@' || bare && (c == '*' || c == '?') || isDigit(c) || p.startsName(i)
}

// steps parses further steps of the path q, and returns steps with the new steps appended. inner is true for the
// steps that apply to each element of a list. Such steps end at a pipe or a bracket.
func (p *parser) steps(q *path, steps []step, inner bool) []step {
	for {
		switch from := p.pos; p.at(from) {
		case '.':
			steps = joined(steps, p.dotted(q))
		case '[':
			isCount := len(steps) > 0 && steps[len(steps)-1].kind == stepCount
			p.rejectIf(isCount, "dot", "#[", from)
			if inner {
				return steps
			}
			steps = append(steps, p.brackets())
		case '|':
			if inner || !p.isPathPipe(q) {
				return steps
			}
			p.pos++
			steps = append(steps, p.step(q))
		case '?': // jq's ? has no effect, because no path ever fails
			if q.bare || !inner && len(steps) == 0 && q.root != "" {
				return steps
			}
			p.pos++
		default:
			return steps
		}
	}
}

// joined appends s, a step after a dot, to steps. If the last step is a name with wildcards, joined instead appends
// the name of s to the pattern of the last step. If a matching key does not have the field s, gjson then tries the
// next matching key.
func joined(steps []step, s step) []step {
	if len(steps) > 0 && s.kind == stepField {
		if last := &steps[len(steps)-1]; last.pattern != "" {
			last.pattern += "." + cmp.Or(s.pattern, gjson.Escape(s.key))
			last.to = s.to
			return steps
		}
	}
	return append(steps, s)
}

// dotted parses a dot and the step after it.
func (p *parser) dotted(q *path) step {
	from := p.pos
	p.pos++
	if !q.bare && isQuote(p.at(p.pos)) {
		key := p.quoted()
		return step{from: from + 1, to: p.pos, key: key}
	}
	p.rejectIf(!p.startsStep(q.bare, p.pos), "dot", p.src[from:], p.pos)
	return p.step(q)
}

// isPathPipe reports whether the | at the current position belongs to the path, as in gjson. It belongs to the path
// unless it is followed by a space or a function.
func (p *parser) isPathPipe(q *path) bool {
	next := p.pos + 1
	c, word := p.at(next), p.word(next)
	if c == '#' || c == '@' || c == '\\' || isDigit(c) {
		return true
	}
	isFunction := isOneOf(word, reserved) || isOneOf(word, testFunctions) || p.at(next+len(word)) == '('
	return q.bare && (c == '*' || p.startsName(next) && !isFunction)
}

// step parses a name or a step of gjson, including the steps that apply to each element.
func (p *parser) step(q *path) (s step) {
	s.from = p.pos
	switch c := p.at(p.pos); {
	case c == '#' && p.at(p.pos+1) == '(':
		p.pos++
		s.kind, s.query = stepFirst, p.query()
		if p.at(p.pos) == '#' {
			s.kind = stepAll
			p.pos++
		}
	case c == '#':
		s.kind = stepCount
		p.pos++
	case c == '@':
		s.kind, s.key = stepModifier, p.modifier()
	case isDigit(c):
		s.key, s.indexes = p.word(p.pos), true
		p.rejectIf(strings.Trim(s.key, "0123456789") != "", "key", s.key, p.pos)
		p.pos += len(s.key)
	default:
		s.key, s.pattern = p.field(q)
	}
	s.to = p.pos
	if s.kind == stepCount || s.kind == stepAll {
		s.sub = p.steps(q, nil, true)
	}
	if n := len(s.sub); n > 0 {
		s.to = s.sub[n-1].to
		if s.kind == stepCount {
			s.kind = stepMap
		}
	}
	return s
}

// field parses the name of a field. pattern is the name if it contains wildcards, and otherwise "".
func (p *parser) field(q *path) (key, pattern string) {
	form := stepName
	if q.bare {
		form = bareName
	}
	at := p.pos
	name := p.match(form)
	p.rejectIf(name == "", "dot", "", at)
	if strings.ContainsAny(escaped().ReplaceAllString(name, ""), "*?") {
		p.rejectIf(strings.Contains(name, `\`), "wildcard", name, at) // gjson would treat \* as a wildcard
		pattern = name
	}
	return escaped().ReplaceAllString(name, "$1"), pattern
}

// brackets parses [n], ["key"] or [].
func (p *parser) brackets() step {
	s := step{kind: stepEach, from: p.pos}
	p.pos++
	p.skip()
	switch c := p.at(p.pos); {
	case isQuote(c):
		s.kind, s.key = stepField, p.quoted()
	case c == '-' || isDigit(c):
		n, _ := strconv.ParseInt(p.match(wholeNumber), 10, 32) // a number that is out of range becomes the nearest int32
		s.kind, s.n = stepIndex, int(n)
	}
	p.endBracket(s.from)
	s.to = p.pos
	return s
}

// modifiers are the gjson modifiers that an expression may use, because they are known to be harmless.
const modifiers = " reverse this flatten join valid keys values tostr fromstr group "

// modifierSource matches a modifier, including an argument that may be a JSON object.
var modifierSource = words.Pattern(`^@[\pL\pNd_]*(?::[^}]*\})?`)

// modifier parses @name and its optional argument, a JSON object after a colon. It returns the source of both
// without the @.
func (p *parser) modifier() string {
	from := p.pos
	source := p.match(modifierSource)[len("@"):]
	name, argument, hasArgument := strings.Cut(source, ":")
	p.rejectIf(!isOneOf(name, modifiers), "modifier", name, from)
	isWrong := p.at(p.pos) == ':' || hasArgument && !isJSON(argument)
	p.rejectIf(isWrong, "modifier", name, from+len("@:"+name))
	return source
}

// A query is the condition in #(...), with the rules of gjson. As in gjson, the number 3 equals the string "3". Two
// rules differ from gjson. If the operand is a string that is not a number, a number satisfies only !=. If the
// operand is neither true nor false, a boolean satisfies only !=.
type query struct {
	path  *path  // leads from an element to the value that is tested; nil if the element itself is tested
	sign  string // the operator, or "" to test whether the value exists
	want  string // the operand as a string
	test  string // the source of the operator and the operand, for gjson
	tilde bool   // the operand is ~true, ~false, ~null or ~*
}

// queryTest matches the operator and the operand of a query. A string operand is in double quotes.
var queryTest = words.Pattern(`^(==|!=|<=|>=|!%|=|<|>|%)\s*("(?:[^"\\]|\\.)*"|~true\b|~false\b|~null\b|~\*|true\b|false\b|-?\d[-+.\w]*)?`)

// query parses the (...) of a #(...).
func (p *parser) query() *query {
	open, q := p.pos, &query{}
	p.pos = p.space(open + 1)
	from := p.pos
	if p.startsStep(true, from) {
		q.path = &path{from: from, bare: true}
		q.path.steps = p.steps(q.path, []step{p.step(q.path)}, false)
		p.skip()
	}
	p.check("query operator", p.src[p.pos:], p.pos)
	if m := queryTest().FindStringSubmatch(p.src[p.pos:]); m != nil {
		q.test, q.sign, q.want = m[0], m[1], strings.TrimPrefix(m[2], "~")
		q.tilde = q.want != m[2]
		at := p.pos + len(m[0]) - len(m[2])
		isText := strings.HasPrefix(m[2], `"`)
		isWrong := m[2] == "" || !isText && strings.HasSuffix(q.sign, "%") || q.tilde && strings.ContainsAny(q.sign, "<>")
		p.rejectIf(isWrong, "query operand", q.sign+" "+p.src[at:], at)
		end := p.pos + len(m[0])
		if p.pos = at; isText {
			q.want = p.quoted()
		}
		p.pos = p.space(end)
	}
	p.rejectIf(p.pos == len(p.src), "open", "#(", open)
	isLists := q.path != nil && (nextEach(q.path.steps) >= 0 || q.sign == "" && q.path.isList())
	p.rejectIf(isLists, "query", "[]", from)
	p.rejectIf(p.at(p.pos) != ')' || q.sign == "" && q.path == nil, "query", p.src[p.pos:], p.pos)
	p.pos++
	return q
}
