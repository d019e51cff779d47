package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// maxModifiers is how many modifiers a path may have: each makes a copy, and some make
// the value larger.
const maxModifiers = 8

// A pathLexer reads one path. It ends at the first character that cannot
// continue the path.
type pathLexer struct {
	*lexer
	path      *Path
	modifiers int
	piped     bool // the next step was joined by |
	query     bool // inside #(...)
}

// path reads the path that begins at l.pos.
func (l *lexer) path() *Path {
	p := &pathLexer{lexer: l, path: &Path{}}
	p.path.From = l.pos
	switch {
	case strings.HasPrefix(l.src[l.pos:], ".."):
		p.lines()
	case l.src[l.pos] == '.':
		p.dot()
	default:
		p.path.bare = true
		p.first()
	}
	return p.finish()
}

// jsonPath reads the rest of a path that begins with $json.
func (l *lexer) jsonPath(start int) *Path {
	p := &pathLexer{lexer: l, path: &Path{Root: RootJSON}}
	p.path.From = start
	return p.finish()
}

// finish reads the steps after the first and lowers them all.
func (p *pathLexer) finish() *Path {
	for p.err == nil && p.more() {
	}
	p.path.To = p.pos
	if p.err == nil {
		p.path.lower()
	}
	return p.path
}

// lines reads the start of a path over JSON lines.
func (p *pathLexer) lines() {
	start := p.pos
	p.path.Root = RootLines
	p.pos += 2
	c := p.at(p.pos)
	if p.list && (c == '[' || rawjson.SkipSpace(p.src, p.pos) == len(p.src)) {
		return
	}
	if c != '#' && !rawjson.IsDigit(c) {
		p.fail(start, "..0.name is the first document of JSON lines, ..# their number; there is no recursive descent",
			".. needs an index, # or #(...)")
	}
	p.first()
}

// dot reads the dot at the start of a path and, if there is one, the first step.
func (p *pathLexer) dot() {
	switch c := p.at(p.pos + 1); {
	case rawjson.IsDigit(c):
		digits := p.src[p.pos+1 : p.wordEnd(p.pos+1)]
		p.fail(p.pos, "write 0."+digits+" for the number, .["+digits+"] for an element", "a number needs a digit before the point")
	case c == '$' || isQuote(c) || p.startsStep(p.pos+1):
		p.dotted()
	default:
		p.pos++
	}
}

// more reads the next step and reports whether there was one.
func (p *pathLexer) more() bool {
	switch c := p.at(p.pos); c {
	case '.':
		p.dotted()
	case '[':
		p.bracket()
	case '|':
		return p.tightPipe()
	case '?':
		if p.path.bare || len(p.path.Steps) == 0 && p.path.Root != RootDot {
			return false
		}
		p.pos++ // jq's, without effect: nothing ever fails here
	case '*':
		if p.path.bare || p.path.Root == RootJSON {
			return false
		}
		p.fail(p.pos, "a path without a leading dot takes wildcards: state*", "* cannot stand in a path that begins with a dot")
	case '-':
		p.fail(p.pos, p.hyphenHint(), "poll does not calculate")
	default:
		return false
	}
	return true
}

// dotted reads a dot and the step after it.
func (p *pathLexer) dotted() {
	p.pos++
	switch c := p.at(p.pos); {
	case isQuote(c) && !p.path.bare:
		from := p.pos
		p.add(Step{Key: p.quoted()}, from)
	case c == '[':
		p.fail(p.pos, "leave the dot out: .items[0]", "a bracket follows without a dot")
	case c == '.':
		p.fail(p.pos, "", "there is a name missing between two dots")
	case c == '$':
		dot := strings.Repeat(".", max(0, 1-len(p.path.Steps))) // of the whole path
		p.fail(p.pos, "a key with $ is written "+dot+`["`+p.src[p.pos:p.wordEnd(p.pos+1)]+`"]`, "$ cannot begin a name")
	case p.startsStep(p.pos):
		p.first()
	default:
		p.fail(p.pos, "a key with other characters is written [\"a key\"]", "there is a name missing after the dot")
	}
}

// startsStep reports whether a name or a gjson step begins at offset i.
func (p *pathLexer) startsStep(i int) bool {
	switch c := p.at(i); c {
	case '#', '@':
		return true
	case '*', '?':
		return p.path.bare
	default:
		return rawjson.IsDigit(c) || p.startsName(i)
	}
}

// tightPipe reads a | that belongs to the path, and the step after it. Any other | is
// left to the parser.
func (p *pathLexer) tightPipe() bool {
	next := p.pos + 1
	c := p.at(next)
	tight := c == '#' || c == '@' || c == '\\' || rawjson.IsDigit(c)
	if p.path.bare && !tight {
		end := p.wordEnd(next)
		name := p.src[next:end]
		tight = c == '*' || end > next && p.at(end) != '(' && (p.query || !isReserved(name) && !isBuiltin(name))
	}
	if !tight {
		return false
	}
	p.pos, p.piped = next, true
	p.first()
	return true
}

// first reads a name or a gjson step that begins at p.pos.
func (p *pathLexer) first() {
	from := p.pos
	switch c := p.at(p.pos); {
	case c == '#':
		p.hash()
	case c == '@':
		p.modifier()
	case rawjson.IsDigit(c):
		for rawjson.IsDigit(p.at(p.pos)) {
			p.pos++
		}
		if end := p.wordEnd(p.pos); end > p.pos {
			p.fail(from, `a key that begins with a digit is written ["`+p.src[from:end]+`"]`, "%s is neither a name nor an index", p.src[from:end])
		}
		p.add(Step{Loose: true, Key: p.src[from:p.pos]}, from)
	default:
		p.name()
	}
}

// name reads the name of a field; in a bare path it may hold wildcards.
func (p *pathLexer) name() {
	from := p.pos
	var key []byte
	wild := false
	for p.inName() {
		if p.src[p.pos] == '\\' {
			if p.pos++; p.pos == len(p.src) {
				p.fail(p.pos-1, "", `there is a character missing after \`)
			}
		} else if c := p.src[p.pos]; c == '*' || c == '?' {
			wild = true
		}
		_, size := utf8.DecodeRuneInString(p.src[p.pos:])
		key = append(key, p.src[p.pos:p.pos+size]...)
		p.pos += size
	}
	s := Step{Key: string(key)}
	if wild {
		s.Key = p.src[from:p.pos]
		s.Pattern = wildcards(s.Key)
	}
	p.add(s, from)
}

// inName reports whether the character at p.pos can be part of a name.
func (p *pathLexer) inName() bool {
	switch c := p.at(p.pos); c {
	case '*', '?':
		return p.path.bare
	case '-':
		return p.hyphenJoins(p.pos + 1)
	default:
		return rawjson.IsDigit(c) || p.startsName(p.pos)
	}
}

// hyphenJoins reports whether what follows a hyphen, at offset i, makes it a part of the
// name.
func (p *pathLexer) hyphenJoins(i int) bool {
	return p.startsName(i) || p.path.bare && rawjson.IsDigit(p.at(i))
}

// add appends a step that began at offset from.
func (p *pathLexer) add(s Step, from int) {
	s.Span = Span{from, p.pos}
	s.piped, p.piped = p.piped, false
	p.path.Steps = append(p.path.Steps, s)
}

// bracket reads [n], ["key"] or [].
func (p *pathLexer) bracket() {
	open := p.pos
	if n := len(p.path.Steps); n > 0 && p.path.Steps[n-1].Kind == LookupCount {
		p.fail(open, "queries are written #(name==\"x\")", "[ cannot stand after #")
	}
	p.pos = min(rawjson.SkipSpace(p.src, p.pos+1), len(p.src))
	s := Step{bracket: true}
	switch c := p.at(p.pos); {
	case isQuote(c):
		s.Key = p.quoted()
	case rawjson.IsDigit(c) || c == '-' && rawjson.IsDigit(p.at(p.pos+1)):
		s.Kind, s.N = LookupIndex, p.integer()
	default:
		s.Kind = LookupEach
	}
	p.closeBracket(open)
	p.add(s, open)
}

// integer reads a whole number. One out of range becomes the nearest of 32 bits.
func (p *pathLexer) integer() int {
	from := p.pos
	p.pos++
	for rawjson.IsDigit(p.at(p.pos)) {
		p.pos++
	}
	n, _ := strconv.ParseInt(p.src[from:p.pos], 10, 32)
	return int(n)
}

// closeBracket reads the ] for the [ at offset open.
func (l *lexer) closeBracket(open int) {
	l.pos = rawjson.SkipSpace(l.src, l.pos)
	switch {
	case l.at(l.pos) == ']':
		l.pos++
	case l.pos == len(l.src):
		l.fail(open, "", "the bracket [ is not closed")
	case !l.refuse(open, "", bracketHabits, starts(l.src[l.pos:])):
		hint := `a key is quoted: ["name"]`
		if rawjson.IsDigit(l.at(l.pos - 1)) {
			hint = ""
		}
		l.fail(open, hint, "there is one whole number or one quoted key in a bracket")
	}
}

// hash reads #, #(...) or #(...)#.
func (p *pathLexer) hash() {
	from := p.pos
	p.pos++
	switch c := p.at(p.pos); {
	case c == '(':
		s := Step{Kind: LookupFirst, Query: p.readQuery()}
		if p.at(p.pos) == '#' {
			s.Kind = LookupAll
			p.pos++
		}
		p.add(s, from)
	case rawjson.IsDigit(c) || p.startsName(p.pos):
		p.fail(from, "there are no comments; #.name lists a field of all elements", "a dot is missing after #")
	default:
		p.add(Step{Kind: LookupCount}, from)
	}
}

// modifier reads @name and its argument.
func (p *pathLexer) modifier() {
	from := p.pos
	end := p.wordEnd(p.pos + 1)
	m := &Modifier{Name: p.src[from+1 : end]}
	p.pos = end
	switch {
	case m.Name == "":
		p.fail(from, "", "there is a name missing after @")
	case !p.refuse(from, "", modifierHabits, is(m.Name)):
		p.fail(from, `for a key write ["@`+m.Name+`"]`, "there is no modifier @%s", m.Name)
	}
	if p.modifiers++; p.modifiers > maxModifiers {
		p.fail(from, "", "a path may have at most %d modifiers", maxModifiers)
	}
	if p.at(p.pos) == ':' {
		p.pos++
		end, flaw := rawjson.Scan(p.src, p.pos, rawjson.MaxDepth)
		if flaw != rawjson.NoFlaw || p.at(p.pos) != '{' {
			p.fail(p.pos, `such as @flatten:{"deep":true}`, "the argument of %s is a JSON object", p.src[from:p.pos-1])
		} else {
			m.Arg, p.pos = p.src[p.pos:end], end
		}
	}
	p.add(Step{Kind: LookupModifier, Modifier: m}, from)
}

// hyphenHint is the hint for a hyphen that cannot be part of a name.
func (p *pathLexer) hyphenHint() string {
	n := len(p.path.Steps)
	if n == 0 || p.path.Steps[n-1].Kind != LookupFields || p.path.Steps[n-1].bracket {
		return hintArithmetic
	}
	end := p.pos
	for p.at(end) == '-' || p.wordEnd(end) > end {
		end = max(end+1, p.wordEnd(end))
	}
	return `for the key write ["` + p.src[p.path.Steps[n-1].From:end] + `"]`
}

// IsName reports whether a name can follow a dot as it is.
func IsName(name string) bool {
	l := lexer{src: "." + name}
	p := l.path()
	return l.err == nil && p.To == len(l.src) && len(p.Steps) == 1 && p.Steps[0].Kind == LookupFields && p.Steps[0].Key == name
}
