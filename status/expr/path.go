package expr

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// A root says where a path begins.
type root uint8

const (
	rootDot     root = iota // the value that is looked at, usually the document
	rootJSON                // the whole document
	rootElement             // the element of it that is judged, or else the document
	rootLines               // the documents of JSON lines
)

// A path says where in a document a value is.
type path struct {
	from, to int // in the source
	root     root
	bare     bool // begins without a dot
	steps    []step
}

// A stepKind says what a step does.
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
	piped    bool // joined by a | without spaces, not by a dot
	bracket  bool // in brackets, which apply to all that comes before

	key     string // stepField: the name; stepModifier: the name and the argument
	indexes bool   // stepField: .0, which is an index or a key
	pattern string // stepField: the name, if it has wildcards
	n       int    // stepIndex
	query   *query // stepFirst, stepAll
	sub     []step // stepMap, stepAll: walked for each element
}

// Forms of steps. In a path without a dot a name may hold wildcards.
var (
	stepName = words.Pattern(`^(?:[\pL_]|\\.)(?:[\pL\pNd_]|\\.|-(?:[\pL_]|\\.))*`)
	stepWild = words.Pattern(`^(?:[\pL_*?]|\\.)(?:[\pL\pNd_*?]|\\.|-(?:[\pL\pNd_]|\\.))*`)
	escaped  = words.Pattern(`\\(.)`)

	wholeNumber = words.Pattern(`^-?\d+`)
)

// A pathParser reads one path. It ends at the first character that cannot continue the path.
type pathParser struct {
	*parser
	*path
	i     int  // where it is in the source
	joint bool // the next step was joined by |
}

// path reads the path that begins at p.pos; it does not go to the next token.
func (p *parser) path() *path {
	q := &pathParser{parser: p, path: &path{from: p.pos}, i: p.pos}
	rest := p.src[p.pos:]
	switch c := p.at(p.pos + 2); {
	case rest[0] == '$':
		name := p.word(p.pos + 1)
		q.root, q.i = or(name == "json", rootJSON, rootElement), q.i+1+len(name)
	case strings.HasPrefix(rest, ".."):
		q.root, q.i = rootLines, q.i+len("..")
		if c == '#' || isDigit(c) {
			q.step()
		} else if !p.list || c != '[' && p.space(q.i) < len(p.src) {
			p.refuse("dot", "..", p.pos)
		}
	case rest[0] != '.':
		q.bare = true
		q.step()
	case isDigit(p.at(p.pos + 1)):
		p.refuse("dot", rest, p.pos)
	case strings.IndexByte(" \t\r\n[|?", p.at(p.pos+1)) >= 0 || !q.startsStep(p.pos+1) && p.at(p.pos+1) != '$' && !isQuote(p.at(p.pos+1)):
		q.i++ // the dot alone
	}
	return q.finish()
}

// finish reads the steps after the first.
func (p *pathParser) finish() *path {
	for p.more() {
	}
	p.to = p.i
	p.steps = nestSteps(p.steps)
	return p.path
}

// more reads the next step and reports whether there was one.
func (p *pathParser) more() bool {
	switch from := p.i; {
	case p.at(from) == '.':
		if p.i++; isQuote(p.at(p.i)) && !p.bare {
			var key string
			key, p.i = p.quoted(p.i)
			p.add(step{key: key}, from+1)
		} else if p.startsStep(p.i) {
			p.step()
		} else {
			p.refuse("dot", p.src[from:], p.i)
		}
	case p.at(from) == '[':
		p.brackets()
	case p.at(from) == '|':
		return p.tightPipe()
	case p.at(from) == '?' && !p.bare && (len(p.steps) > 0 || p.root == rootDot):
		p.i++ // jq's, without effect: nothing ever fails here
	default:
		return false
	}
	return true
}

// startsStep reports whether a name or a gjson step begins at offset i.
func (p *pathParser) startsStep(i int) bool {
	c := p.at(i)
	return c == '#' || c == '@' || p.bare && (c == '*' || c == '?') || isDigit(c) || p.startsName(i)
}

// tightPipe reads a | that belongs to the path, and the step after it. Any other | is
// left to the parser.
func (p *pathParser) tightPipe() bool {
	next := p.i + 1
	c, word := p.at(next), p.word(next)
	tight := c == '#' || c == '@' || c == '\\' || isDigit(c)
	if p.bare && !tight {
		isFunction := isOneOf(word, reserved) || isOneOf(word, testFunctions) || p.at(next+len(word)) == '('
		tight = c == '*' || p.startsName(next) && !isFunction
	}
	if tight {
		p.i, p.joint = next, true
		p.step()
	}
	return tight
}

// step reads a name or a gjson step.
func (p *pathParser) step() {
	from := p.i
	switch c := p.at(from); {
	case c == '#' && p.at(from+1) == '(':
		p.i++
		s := step{kind: stepFirst, query: p.readQuery()}
		if p.at(p.i) == '#' {
			s.kind = stepAll
			p.i++
		}
		p.add(s, from)
	case c == '#':
		p.i++
		p.add(step{kind: stepCount}, from)
	case c == '@':
		p.modifier()
	case isDigit(c):
		word := p.word(from)
		p.refuseIf(strings.Trim(word, "0123456789") != "", "key", word, from)
		p.i += len(word)
		p.add(step{key: word, indexes: true}, from)
	default:
		form := stepName()
		if p.bare {
			form = stepWild()
		}
		name := form.FindString(p.src[from:])
		p.refuseIf(name == "", "dot", "", from)
		p.i += len(name)
		s := step{key: escaped().ReplaceAllString(name, "$1")}
		if strings.ContainsAny(escaped().ReplaceAllString(name, ""), "*?") {
			s.pattern = name
		}
		if s.pattern != "" && strings.Contains(name, `\`) { // gjson takes \* for *
			p.refuse("wildcard", name, from)
		}
		p.add(s, from)
	}
}

// add appends a step that began at offset from.
func (p *pathParser) add(s step, from int) {
	s.from, s.to = from, p.i
	s.piped, p.joint = p.joint, false
	p.steps = append(p.steps, s)
}

// brackets reads [n], ["key"] or [].
func (p *pathParser) brackets() {
	open := p.i
	s := step{kind: stepEach, bracket: true}
	p.i = p.space(open + 1)
	switch c := p.at(p.i); {
	case len(p.steps) > 0 && p.steps[len(p.steps)-1].kind == stepCount:
		p.refuse("dot", "#[", open)
	case isQuote(c):
		s.kind = stepField
		s.key, p.i = p.quoted(p.i)
	case c == '-' || isDigit(c):
		source := wholeNumber().FindString(p.src[p.i:])
		n, _ := strconv.ParseInt(source, 10, 32) // one out of range becomes the nearest
		s.kind, s.n, p.i = stepIndex, int(n), p.i+len(source)
	}
	p.i = p.closeBracket(open, p.i)
	p.add(s, open)
}

// closeBracket reads the ] at offset i, for the [ at offset open. It returns the offset after it.
func (p *parser) closeBracket(open, i int) (end int) {
	i = p.space(i)
	p.refuseIf(p.at(i) != ']', "bracket", p.src[i:], open)
	return i + 1
}

// modifiers are those of gjson that are known not to do harm.
const modifiers = " reverse this flatten join valid keys values tostr fromstr group "

// modifier reads @name and its argument.
func (p *pathParser) modifier() {
	from := p.i
	name := p.word(p.i + 1)
	p.i += 1 + len(name)
	p.refuseIf(!isOneOf(name, modifiers), "modifier", name, from)
	if p.at(p.i) == ':' {
		end := strings.IndexByte(p.src[p.i:], '}') + p.i + 1
		p.refuseIf(!isJSON(p.src[p.i+1:max(end, p.i+1)]), "modifier", name, p.i+1)
		p.i = end
	}
	p.add(step{kind: stepModifier, key: p.src[from+1 : p.i]}, from)
}

// nestSteps moves the steps that apply to each element into the step that yields the list. They
// end at the next pipe or bracket.
func nestSteps(steps []step) (lowered []step) {
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		end := i + 1
		for end < len(steps) && !steps[end].piped && !steps[end].bracket {
			end++
		}
		if s.kind == stepCount && end > i+1 {
			s.kind = stepMap
		}
		if s.kind == stepMap || s.kind == stepAll {
			s.sub, s.to = nestSteps(steps[i+1:end]), steps[end-1].to
			i = end - 1
		}
		for s.pattern != "" && i+1 < end && steps[i+1].kind == stepField { // gjson tries the next key if they do not fit
			i++
			s.pattern, s.to = s.pattern+"."+cmp.Or(steps[i].pattern, gjson.Escape(steps[i].key)), steps[i].to
		}
		lowered = append(lowered, s)
	}
	return lowered
}

// isList reports whether the path always yields a list, and so would always be true as a
// condition.
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

// eachStep returns the first [] of the path, nil if it has none.
func (p *path) eachStep() *step {
	for i := range p.steps {
		if p.steps[i].kind == stepEach {
			return &p.steps[i]
		}
	}
	return nil
}

// before is the source of the part of the path before a step, "" for nothing.
func (p *path) before(s *step, src string) string {
	return strings.TrimRight(src[p.from:s.from], ".|")
}

// firstWord is the name that a bare path begins with, "" for another path.
func (p *path) firstWord() string {
	if !p.bare || p.steps[0].kind != stepField || p.steps[0].pattern != "" || p.steps[0].indexes {
		return ""
	}
	return p.steps[0].key
}

// isError reports whether the path begins at a member of the document that only holds errors.
func (p *path) isError() bool {
	return p.root == rootDot && len(p.steps) > 0 && p.steps[0].kind == stepField &&
		(p.steps[0].key == "error" || p.steps[0].key == "errors")
}

// A query is one of gjson, #(...), without its surprises. It compares loosely, as gjson does:
// in a query 3 is "3".
type query struct {
	path  *path  // to the value that is tested; nil for the element itself
	sign  string // "" asks for existence
	want  string // the operand as text
	test  string // both, as gjson reads them
	tilde bool   // the operand is ~true, ~false, ~null or ~*
}

// queryTest is the operator and the operand of a query. A text stands in double quotes.
var queryTest = words.Pattern(`^(==|!=|<=|>=|!%|=|<|>|%)\s*("(?:[^"\\]|\\.)*"|~true\b|~false\b|~null\b|~\*|true\b|false\b|-?\d[-+.\w]*)?`)

// readQuery reads the (...) of #(...).
func (p *pathParser) readQuery() *query {
	open := p.i
	q := &query{}
	p.i = p.space(open + 1)
	in := &pathParser{parser: p.parser, path: &path{from: p.i, bare: true}, i: p.i}
	if in.startsStep(p.i) {
		in.step()
		q.path = in.finish()
		p.i = p.space(in.i)
	}
	p.check("query operator", p.src[p.i:], p.i)
	if m := queryTest().FindStringSubmatch(p.src[p.i:]); m != nil {
		q.test, q.sign, q.want = m[0], m[1], strings.TrimPrefix(m[2], "~")
		q.tilde = q.want != m[2]
		at := p.i + len(m[0]) - len(m[2])
		if m[2] == "" || m[2][0] != '"' && strings.HasSuffix(q.sign, "%") || q.tilde && strings.ContainsAny(q.sign, "<>") {
			p.refuse("query operand", q.sign+" "+p.src[at:], at)
		} else if m[2][0] == '"' {
			q.want, _ = p.quoted(at)
		}
		p.i = p.space(p.i + len(m[0]))
	}
	switch {
	case p.i == len(p.src):
		p.fail(open, "", "#( is not closed")
	case q.path != nil && (q.path.eachStep() != nil || q.sign == "" && q.path.isList()):
		p.refuse("query", "[]", in.from)
	case p.at(p.i) != ')' || q.sign == "" && q.path == nil:
		p.refuse("query", p.src[p.i:], p.i)
	}
	p.i++
	return q
}

// selects reports whether a query holds for a value that its path leads to, as gjson has it.
// Unlike gjson, it does not compare text with numbers or booleans.
func (q *query) selects(v value) bool {
	_, err := strconv.ParseFloat(q.want, 64)
	isBool := q.want == "true" || q.want == "false"
	switch {
	case q.sign == "":
		return v.kind > kindMissing
	case !q.tilde && (v.kind == kindNumber && err != nil || v.kind == kindBool && !isBool):
		return q.sign == "!="
	}
	element := or(v.kind > kindMissing, `{"a":`+v.json()+"}", "{}")
	return gjson.Get("["+element+"]", "#(a"+q.test+")").Exists()
}
