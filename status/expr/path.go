package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// A path leads to a value: from ".", a variable or the list of the documents.
type path struct {
	from, to int    // in the source
	root     string // "" for ".", which is the document except in pipes and in any, all and count; ".."; or a variable
	field    string // of $header
	bare     bool   // the path begins without a dot, as in gjson
	steps    []step
}

// A stepKind is the kind of a step.
type stepKind uint8

const (
	stepField    stepKind = iota // .name, ["name"], .0
	stepIndex                    // [n], of a list only
	stepEach                     // []
	stepCount                    // #
	stepMap                      // #.x
	stepFirst                    // #(...)
	stepAll                      // #(...)#
	stepModifier                 // @name
)

// A step is one component of a path.
type step struct {
	kind     stepKind
	from, to int

	key     string // stepField: the name; stepModifier: the name and the argument
	indexes bool   // stepField: .0, which is an index or a key
	pattern string // stepField: the name, if it has wildcards
	n       int    // stepIndex
	query   *query // stepFirst, stepAll
	sub     []step // stepMap, stepAll: the steps that each element takes
}

// isList reports whether the path always leads to a list, which would always be true as a condition.
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

// nextEach returns the index of the first [] in some steps, or -1.
func nextEach(steps []step) int {
	return slices.IndexFunc(steps, func(s step) bool { return s.kind == stepEach })
}

// before returns the source of the path before a step, "" for the first step.
func (p *path) before(s *step, src string) string {
	return strings.TrimRight(src[p.from:s.from], ".|")
}

// Forms of steps. In a path without a dot a name may have wildcards, and a digit may follow a hyphen.
var (
	stepName = words.Pattern(`^(?:[\pL_]|\\.)(?:[\pL\pNd_]|\\.|-(?:[\pL_]|\\.))*`)
	bareName = words.Pattern(`^(?:[\pL_*?]|\\.)(?:[\pL\pNd_*?]|\\.|-(?:[\pL\pNd_]|\\.))*`)
	escaped  = words.Pattern(`\\(.)`)

	wholeNumber = words.Pattern(`^-?\d+`)
)

// path reads the path at the position of the parser, and moves the position to the end of the path. A
// path ends at the first character that cannot continue it.
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
			p.pos++ // the dot alone
		}
	}
	q.steps = p.steps(q, q.steps, false)
	q.to = p.pos
	return q
}

// variable reads $name or $header.Name.
func (p *parser) variable(q *path) {
	q.root = p.word(p.pos + 1)
	p.rejectIf(!isOneOf(q.root, variables), "variable", p.src[p.pos:], p.pos)
	p.pos += len("$" + q.root)
	if q.root == "header" {
		q.field = p.member(fieldName)
		p.rejectIf(q.field == "", "variable", "$header", q.from)
	}
}

// startsStep reports whether a name or a step of gjson begins at offset i.
func (p *parser) startsStep(bare bool, i int) bool {
	c := p.at(i)
	return c == '#' || c == '@' || bare && (c == '*' || c == '?') || isDigit(c) || p.startsName(i)
}

// steps reads the steps after some first ones. A pipe or a bracket ends inner steps, which each element
// of a list takes.
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
			if inner || !p.isTight(q) {
				return steps
			}
			p.pos++
			steps = append(steps, p.step(q))
		case '?': // jq's, without effect: no path ever fails
			if q.bare || !inner && len(steps) == 0 && q.root != "" {
				return steps
			}
			p.pos++
		default:
			return steps
		}
	}
}

// joined appends a step that follows a dot. It appends a field to the pattern of a name with wildcards: if a key
// does not have the field, gjson tries the next key.
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

// dotted reads a dot and a step.
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

// isTight reports whether the | at the position belongs to the path: no space follows, and no function.
func (p *parser) isTight(q *path) bool {
	next := p.pos + 1
	c, word := p.at(next), p.word(next)
	if c == '#' || c == '@' || c == '\\' || isDigit(c) {
		return true
	}
	isFunction := isOneOf(word, reserved) || isOneOf(word, testFunctions) || p.at(next+len(word)) == '('
	return q.bare && (c == '*' || p.startsName(next) && !isFunction)
}

// step reads a name or a step of gjson, with its inner steps.
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

// field reads the name of a field. The pattern is "" for a name without wildcards.
func (p *parser) field(q *path) (key, pattern string) {
	form := stepName
	if q.bare {
		form = bareName
	}
	at := p.pos
	name := p.match(form)
	p.rejectIf(name == "", "dot", "", at)
	if strings.ContainsAny(escaped().ReplaceAllString(name, ""), "*?") {
		p.rejectIf(strings.Contains(name, `\`), "wildcard", name, at) // gjson takes \* for *
		pattern = name
	}
	return escaped().ReplaceAllString(name, "$1"), pattern
}

// brackets reads [n], ["key"] or [].
func (p *parser) brackets() step {
	s := step{kind: stepEach, from: p.pos}
	p.pos++
	p.skip()
	switch c := p.at(p.pos); {
	case isQuote(c):
		s.kind, s.key = stepField, p.quoted()
	case c == '-' || isDigit(c):
		n, _ := strconv.ParseInt(p.match(wholeNumber), 10, 32) // one out of range becomes the nearest
		s.kind, s.n = stepIndex, int(n)
	}
	p.endBracket(s.from)
	s.to = p.pos
	return s
}

// modifiers are the modifiers of gjson that are known to do no harm.
const modifiers = " reverse this flatten join valid keys values tostr fromstr group "

// modifier reads @name and its argument, an object after a colon. It returns both without the @.
func (p *parser) modifier() string {
	from := p.pos
	name := p.word(from + 1)
	p.pos += len("@" + name)
	p.rejectIf(!isOneOf(name, modifiers), "modifier", name, from)
	if p.at(p.pos) == ':' {
		argument := p.pos + 1
		end := max(argument, strings.IndexByte(p.src[p.pos:], '}')+p.pos+1)
		p.rejectIf(!isJSON(p.src[argument:end]), "modifier", name, argument)
		p.pos = end
	}
	return p.src[from+1 : p.pos]
}

// A query is the #(...) of gjson. As in gjson, the number 3 equals the text "3". Unlike in gjson, a number that is
// compared with text which is not a number matches only !=, and so does a boolean that is compared with anything
// except true and false.
type query struct {
	path  *path  // to the value that is tested; nil for the element itself
	sign  string // the operator; "" tests whether the value exists
	want  string // the operand as text
	test  string // the operator and the operand, as gjson reads them
	tilde bool   // the operand is ~true, ~false, ~null or ~*
}

// queryTest matches the operator and the operand of a query. A text stands in double quotes.
var queryTest = words.Pattern(`^(==|!=|<=|>=|!%|=|<|>|%)\s*("(?:[^"\\]|\\.)*"|~true\b|~false\b|~null\b|~\*|true\b|false\b|-?\d[-+.\w]*)?`)

// query reads the (...) of #(...).
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
