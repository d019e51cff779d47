package expr

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// maxSource is the maximum length of an expression in bytes. It also limits the depth of the syntax tree.
const maxSource = 16 << 10

// An Error describes why an expression does not compile.
type Error struct {
	Source  string // the expression
	Offset  int    // the position of the mistake in Source, in bytes from 0; at most len(Source)
	Column  int    // the same position in characters from 1, to draw a caret below it
	Message string // a description of the mistake, such as "done is not quoted"
	Hint    string // a suggested correction, or ""
}

// Error returns the column and the message, without the hint.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// A parser parses an expression by recursive descent over the grammar in the package comment. This file contains the
// methods for tokens, path.go those for paths, and parse.go those for the grammar. On the first mistake, a parser
// panics with an *Error.
type parser struct {
	src     string
	pos     int // the offset of the next token, also called the current position
	end     int // the end of the last token
	environ func(name string) (value string, ok bool)

	piped bool     // the parser is on the right side of a pipe, where functions need no arguments
	inner bool     // "." is not the document here: on the right side of a pipe, and in the condition of any, all and count
	list  bool     // the expression selects elements, so ".." alone is the list of all documents
	reads []string // the inputs that the expression reads, as names for Expr.Reads
}

// start rejects a source that is empty or too long, and skips white space before the first token.
func (p *parser) start() {
	p.rejectIf(len(p.src) > maxSource, "length", "", 0)
	p.skip()
	p.rejectIf(p.pos == len(p.src), "length", "empty", 0)
}

// check finds the first row of hints.txt whose name is about and whose pattern matches text. If the row has a
// message, check stops the parser with this message and the row's hint. at is the offset of the mistake.
func (p *parser) check(about, text string, at int) {
	message, hint, _ := findRow(about, text)
	if message == "" {
		return
	}
	at = min(max(at, 0), len(p.src))
	column := utf8.RuneCountInString(p.src[:at]) + 1
	panic(&Error{Source: p.src, Offset: at, Column: column, Message: message, Hint: hint})
}

// reject stops the parser as check does. If no row matches text, the message names the first character of text.
func (p *parser) reject(about, text string, at int) {
	p.check(about, text, at)
	r, _ := utf8.DecodeRuneInString(text)
	p.check("character", words.OneLine(string(r)), at)
}

// rejectIf calls reject if wrong is true.
func (p *parser) rejectIf(wrong bool, about, text string, at int) {
	if wrong {
		p.reject(about, text, at)
	}
}

// unexpected rejects the next token, which cannot follow an operand.
func (p *parser) unexpected() {
	p.check("unexpected", p.src[p.pos:], p.pos)
	p.reject("sign", p.src[p.pos:], p.pos)
}

// try calls parse, and returns the mistake that stopped the parser, or nil. If the source matches a row of hints.txt
// called "whole", the message and the hint of this row replace those of the mistake, unless the expression selects
// elements.
func (p *parser) try(parse func()) (mistake *Error) {
	defer func() {
		problem := recover()
		if mistake, _ = problem.(*Error); mistake == nil && problem != nil {
			panic(problem)
		}
		if mistake != nil && !p.list {
			text := fromJMESPath(p.src)
			message, hint, _ := findRow("whole", text)
			if text != p.src && p.at(mistake.Offset) == '`' {
				hint = cmp.Or(hint, "write "+text)
			}
			mistake.Message, mistake.Hint = cmp.Or(message, mistake.Message), cmp.Or(hint, mistake.Hint)
		}
	}()
	parse()
	return nil
}

// addReads adds names to p.reads. An expression that reads $output also reads $stdout and $stderr.
func (p *parser) addReads(names ...string) {
	p.reads = append(p.reads, names...)
	if slices.Contains(names, "output") {
		p.reads = append(p.reads, "stdout", "stderr")
	}
}

// addPathReads adds the names of everything that path reads to p.reads.
func (p *parser) addPathReads(path *path) {
	switch {
	case path.root == "json" || path.root == "..":
		p.addReads(".", "other members", "json")
	case path.root == "element":
		p.addReads(".", "other members", "object", "element")
	case path.root != "":
		p.addReads(path.root)
	case p.inner:
	case len(path.steps) > 0 && path.steps[0].kind == stepField && isOneOf(path.steps[0].key, " error errors "):
		p.addReads(".", "error members", "object")
	default:
		p.addReads(".", "other members", "object")
	}
}

// at returns the byte at offset i, or 0 after the end of the source.
func (p *parser) at(i int) byte {
	if i < len(p.src) {
		return p.src[i]
	}
	return 0
}

// take ends the current token at offset end, and skips the white space before the next token.
func (p *parser) take(end int) {
	p.pos, p.end = end, end
	p.skip()
}

// skip skips white space.
func (p *parser) skip() { p.pos = p.space(p.pos) }

// space returns the offset of the first character at or after offset i that is not white space.
func (p *parser) space(i int) int {
	return len(p.src) - len(strings.TrimLeft(p.src[min(i, len(p.src)):], " \t\r\n"))
}

// word returns the letters, digits and underscores that start at offset i.
func (p *parser) word(i int) string {
	rest := p.src[min(i, len(p.src)):]
	return rest[:len(rest)-len(strings.TrimLeftFunc(rest, isWord))]
}

// match reads and returns the text that pattern matches at the current position. It returns "" if pattern does not
// match there.
func (p *parser) match(pattern func() *regexp.Regexp) string {
	text := pattern().FindString(p.src[p.pos:])
	p.pos += len(text)
	return text
}

func isWord(r rune) bool  { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isQuote(c byte) bool { return c == '"' || c == '\'' }

// startsName reports whether a name starts at offset i.
func (p *parser) startsName(i int) bool {
	r, _ := utf8.DecodeRuneInString(p.src[min(i, len(p.src)):])
	return r == '_' || r == '\\' || unicode.IsLetter(r)
}

// operator matches an operator that is written with symbols.
var operator = words.Pattern(`^(?:[=!]=|[<>]=?|[=!]~|&&|\|\|?|//|[!();,])`)

// operatorAt returns the operator at offset i, and its spelling in the source. The two differ only for "and" and
// "or", which stand for && and ||. If the token is not an operator, operatorAt returns "". A word such as "in"
// counts as an operator wherever it appears.
func (p *parser) operatorAt(i int) (sign, source string) {
	switch word := p.word(i); {
	case word == "and":
		return "&&", word
	case word == "or":
		return "||", word
	case negations[word] != "":
		return word, word
	}
	sign = operator().FindString(p.src[i:])
	isCut := sign != "" && strings.IndexByte("=<>", p.at(i+len(sign))) >= 0 && !strings.Contains("();,", sign)
	p.rejectIf(isCut, "sign", p.src[i:], i)
	return sign, sign
}

// accept reads the next token if it is the given operator. It reports whether the token was read.
func (p *parser) accept(operator string) bool {
	sign, source := p.operatorAt(p.pos)
	if sign != operator {
		return false
	}
	p.take(p.pos + len(source))
	return true
}

// Patterns for strings. A string in double quotes has the escapes of JSON. A string in single quotes has only the
// escapes \' and \\.
var (
	quotedText = words.Pattern(`(?s)^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
	escapes    = words.Pattern(`\\(u[0-9a-fA-F]{4}|["\\/bfnrt])?`)
	controls   = words.Pattern(`[\x00-\x1f]`)
)

// quoted parses a string in single or double quotes, and returns its value.
func (p *parser) quoted() string {
	start := p.pos
	source := p.match(quotedText)
	p.rejectIf(source == "", "quote", p.src[start:start+1], start)
	if source[0] == '\'' {
		return strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(source[1 : len(source)-1])
	}
	for _, escape := range escapes().FindAllStringSubmatchIndex(source, -1) {
		at := start + escape[0]
		p.rejectIf(escape[2] < 0, "escape", p.src[at:], at)
	}
	// A control character need not be escaped here, unlike in JSON.
	json := controls().ReplaceAllStringFunc(source, func(c string) string { return fmt.Sprintf(`\u%04x`, c) })
	return gjson.Parse(json).Str
}

// endBracket reads the ] that matches the [ at offset open.
func (p *parser) endBracket(open int) {
	p.skip()
	p.rejectIf(p.at(p.pos) != ']', "bracket", p.src[p.pos:], open)
	p.pos++
}

// member parses .name or ["name"], and returns the name. form matches a name with its dot. If another token follows,
// member returns "".
func (p *parser) member(form func() *regexp.Regexp) (name string) {
	open := p.pos
	if quote := p.space(open + 1); p.at(open) == '[' && isQuote(p.at(quote)) {
		p.pos = quote
		name = p.quoted()
		p.endBracket(open)
		return name
	}
	return strings.TrimPrefix(p.match(form), ".")
}

// The names that may follow $header and $ENV, each with its dot.
var (
	fieldName   = words.Pattern(`^\.[\pL\pNd_-]*`) // the name of a header field
	environName = words.Pattern(`^\.[\pL\pNd_]*`)  // the name of an environment variable
)

// lookUp returns the value of the environment variable called name. at is the offset of the variable in the source.
// lookUp rejects a variable that is not set, or whose value is blank, because every string starts with and contains
// the empty string.
func (p *parser) lookUp(name string, at int) string {
	p.rejectIf(p.environ == nil, "environ", name+" cannot stand here", at)
	text, isSet := p.environ(name)
	p.rejectIf(!isSet, "environ", name+" is not set", at)
	p.rejectIf(strings.TrimSpace(text) == "", "environ", name+" is empty", at)
	p.addReads("ENV")
	return text
}
