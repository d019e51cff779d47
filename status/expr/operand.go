package expr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isQuote(c byte) bool { return c == '"' || c == '\'' }

// reserved are the words that mean something by themselves.
const reserved = bareFunctions + " true false null and or in contains startswith endswith "

// jsonVariables are the variables that are paths.
const jsonVariables = " json element "

// startsName reports whether a name begins at offset i.
func (p *parser) startsName(i int) bool {
	r, _ := utf8.DecodeRuneInString(p.src[min(i, len(p.src)):])
	return r == '_' || r == '\\' || unicode.IsLetter(r)
}

// startsBarePath reports whether a path without a dot begins at offset i.
func (p *parser) startsBarePath(i int) bool {
	c, word := p.at(i), p.word(i)
	next := p.at(i + len(word))
	isPath := next == '.' || next == '[' || next == '#' || next == '*' || next == '\\' // such as true.x
	isName := p.startsName(i) && next != '(' && (isPath || !isOneOf(word, reserved))
	return isName || c != 0 && strings.IndexByte("#@*?", c) >= 0
}

// startsPath reports whether a path begins at offset i.
func (p *parser) startsPath(i int) bool {
	return p.at(i) == '.' || p.startsBarePath(i) || p.at(i) == '$' && isOneOf(p.word(i+1), jsonVariables)
}

// operand parses an operand.
func (p *parser) operand() *node {
	from, c := p.pos, p.at(p.pos)
	switch {
	case from == len(p.src):
		p.fail(from, "", "a value is missing at the end")
	case c == '(':
		p.take(from + 1)
		n := p.pipe()
		p.close(from)
		n.grouped = true
		return n
	case isQuote(c):
		s, end := p.quoted(from)
		return p.constant(text(s), end)
	case c == '[' || c == '{':
		return p.json()
	case isDigit(c), c == '-' && isDigit(p.at(from+1)):
		return p.number()
	case p.startsPath(from):
		return p.pathOperand()
	case c == '$':
		return p.dollar()
	case p.startsName(from):
		return p.function()
	}
	sign, source := p.operatorAt(from)
	p.refuseIf(sign != "", "missing", source, from)
	p.refuse("sign", p.src[from:], from)
	return nil
}

// close expects a closing parenthesis, whose opening one is at an offset.
func (p *parser) close(open int) {
	switch {
	case p.accept(")"):
	case p.pos == len(p.src):
		p.fail(open, "", "the parenthesis ( is not closed")
	default:
		p.unexpected()
	}
}

// constant makes a node of a constant that ends at an offset.
func (p *parser) constant(v value, end int) *node {
	from := p.pos
	p.take(end)
	return &node{op: opLiteral, from: from, to: end, literal: v}
}

// Texts in quotes: in double ones the escapes of JSON, in single ones only \' and \\.
var (
	quotedText = words.Pattern(`(?s)^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
	escapes    = words.Pattern(`\\(u[0-9a-fA-F]{4}|["\\/bfnrt])?`)
	controls   = words.Pattern(`[\x00-\x1f]`)
)

// quoted reads the text that begins at offset i with a quote of either kind. It returns the
// offset after it.
func (p *parser) quoted(i int) (s string, end int) {
	source := quotedText().FindString(p.src[i:])
	end = i + len(source)
	switch {
	case source == "":
		p.fail(i, "", "the quote %c is not closed", p.src[i])
	case source[0] == '\'':
		return strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(source[1 : len(source)-1]), end
	}
	for _, escape := range escapes().FindAllStringSubmatchIndex(source, -1) {
		at := i + escape[0]
		p.refuseIf(escape[2] < 0, "escape", p.src[at:], at)
	}
	// What JSON wants escaped need not be.
	json := controls().ReplaceAllStringFunc(source, func(c string) string { return fmt.Sprintf(`\u%04x`, c) })
	return gjson.Parse(json).Str, end
}

// json parses a list or an object.
func (p *parser) json() *node {
	from := p.pos
	decoder := json.NewDecoder(strings.NewReader(p.src[from:]))
	var raw json.RawMessage
	err := decoder.Decode(&raw)
	p.refuseIf(err != nil || isTooDeep(string(raw), maxDepth), "json", p.src[from:], from)
	return p.constant(parseValue(string(raw)), from+int(decoder.InputOffset()))
}

// quantity is a number, perhaps with a unit of time.
var quantity = words.Pattern(`^-?\d(?:[eE][-+]\d|[\w.])*`)

// number parses a number, or a duration, which is a number of seconds.
func (p *parser) number() *node {
	source := quantity().FindString(p.src[p.pos:])
	raw := source
	if isOneOf(strings.TrimLeft(raw, "-.0123456789"), " ms s m h ") {
		if d, err := time.ParseDuration(raw); err == nil {
			raw = strconv.FormatFloat(d.Seconds(), 'g', -1, 64)
		}
	}
	p.refuseIf(!gjson.Valid(raw), "digit", source, p.pos)
	return p.constant(number(raw), p.pos+len(source))
}

// dollar parses $name, $header.Name and $ENV.NAME.
func (p *parser) dollar() *node {
	from := p.pos
	name := p.word(from + 1)
	end := from + 1 + len(name)
	n := &node{op: opVariable, from: from, name: name}
	_, known := (&Env{}).variable(name, "")
	switch {
	case name == "ENV":
		key, end := p.member(end, "")
		v := text(p.lookUp(key, from))
		v.hidden = true
		return p.constant(v, end)
	case !known:
		p.refuse("variable", p.src[from:], from)
	case name == "header":
		n.field, end = p.member(end, "-")
		p.refuseIf(n.field == "", "variable", "$header", from)
	}
	p.note(name)
	p.take(end)
	n.to = end
	return n
}

// lookUp is a variable of the environment, which has to have more than blanks: every text begins
// with and contains the empty text.
func (p *parser) lookUp(name string, at int) (v string) {
	p.refuseIf(p.environ == nil, "environ", name+" cannot stand here", at)
	v, isSet := p.environ(name)
	p.refuseIf(strings.TrimSpace(v) == "", "environ", name+or(isSet, " is empty", " is not set"), at)
	p.note("ENV")
	return v
}

// member reads .name or ["name"] at offset i; the name is "" if there is none. Besides letters,
// digits and _ a name after a dot may hold the other characters.
func (p *parser) member(i int, other string) (name string, end int) {
	if quote := p.space(i + 1); p.at(i) == '[' && isQuote(p.at(quote)) {
		name, end = p.quoted(quote)
		return name, p.closeBracket(i, end)
	}
	if p.at(i) != '.' {
		return "", i
	}
	rest := p.src[i+1:]
	behind := strings.TrimLeftFunc(rest, func(r rune) bool { return isWord(r) || strings.ContainsRune(other, r) })
	return rest[:len(rest)-len(behind)], len(p.src) - len(behind)
}

// pathOperand parses a path, which must not iterate here.
func (p *parser) pathOperand() *node {
	path := p.path()
	if s := path.eachStep(); s != nil {
		p.fail(s.from, "test the elements with any(...) or all(...)", "[] works only in any(), all() and count()")
	}
	return p.pathNode(path)
}

func (p *parser) pathNode(path *path) *node {
	if !p.inner || path.root != rootDot {
		p.note(".")
		p.note(or(path.isError(), "error members", "other members"))
	}
	if !p.inner && path.root == rootDot || path.root == rootElement {
		p.note("object")
	}
	if path.root != rootDot {
		p.note(or(path.root == rootElement, "element", "json"))
	}
	n := &node{op: opPath, from: path.from, to: path.to, path: path}
	if word := path.firstWord(); word != "" && p.piped {
		p.refuse("function", word, path.from)
	} else if word != "" && len(path.steps) == 1 {
		p.check("field", word, path.from)
	}
	p.take(path.to)
	return n
}

// function parses a constant that is a word, or a function, whose arguments follow at once.
func (p *parser) function() *node {
	from, word := p.pos, p.word(p.pos)
	end := from + len(word)
	n := &node{op: opCall, from: from, to: end, name: word}
	switch isCall := p.at(end) == '('; {
	case isCall && !isOneOf(word, calledFunctions):
		p.refuse("call", p.src[from:], from)
	case isCall:
		p.take(end + 1)
		if !p.inner && word != "exists" {
			p.note(".") // it reads the document, or a list in it
			p.note("other members")
		}
		piped, inner := p.piped, p.inner
		p.piped = false
		p.arguments(n)
		p.close(end)
		if !inner && word != "exists" && (n.kids == nil || n.kids[0].path == nil || len(n.kids) == 1) {
			p.note("object")
		}
		if p.piped, p.inner, n.to = piped, inner, p.end; isOneOf(word, comparingFunctions) {
			return n.asComparison()
		}
		return n
	case word == "true" || word == "false" || word == "null":
		return p.constant(parseValue(word), end)
	case !isOneOf(word, bareFunctions):
		_, hint, _ := findHint("missing", word)
		p.fail(from, hint, "a value is missing before %s", word)
	case !p.piped:
		p.refuse("bare", word, from)
	}
	p.take(end)
	return n
}
