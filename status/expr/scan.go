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

// maxSource is the length of the longest expression, in bytes. It also bounds the depth of the tree.
const maxSource = 16 << 10

// An Error is the reason why an expression does not compile.
type Error struct {
	Source  string // the expression
	Offset  int    // the place of the mistake in Source, in bytes from 0; at most len(Source)
	Column  int    // the same place in characters from 1, for a caret
	Message string // the mistake: "done is not quoted"
	Hint    string // a correction, "" if unknown
}

// Error returns the column and the message, without the hint.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// A parser reads an expression by recursive descent over the grammar in the package comment. This file
// has its tokens, path.go has paths, and parse.go has the grammar. A parser stops at the first mistake with a
// panic of an *Error.
type parser struct {
	src     string
	pos     int // of the next token
	end     int // of the last token
	environ func(name string) (value string, ok bool)

	piped bool     // on the right side of a pipe, where bare functions may stand
	inner bool     // where "." is not the document: on the right side of a pipe, and in the condition of any, all and count
	list  bool     // the expression leads to elements, where .. alone is the list of the documents
	reads []string // see Expr.Reads
}

// begin checks the length of the source, and skips white space before the first token.
func (p *parser) begin() {
	p.rejectIf(len(p.src) > maxSource, "length", "", 0)
	p.skip()
	p.rejectIf(p.pos == len(p.src), "length", "empty", 0)
}

// check stops at an offset if a row about something matches a text and has a message.
func (p *parser) check(about, text string, at int) {
	message, hint, _ := findRow(about, text)
	if message == "" {
		return
	}
	at = min(max(at, 0), len(p.src))
	column := utf8.RuneCountInString(p.src[:at]) + 1
	panic(&Error{Source: p.src, Offset: at, Column: column, Message: message, Hint: hint})
}

// reject stops at an offset, with the row about something that matches a text. Without such a row the
// message names the first character of the text.
func (p *parser) reject(about, text string, at int) {
	p.check(about, text, at)
	r, _ := utf8.DecodeRuneInString(text)
	p.check("character", words.OneLine(string(r)), at)
}

// rejectIf rejects a text at an offset if it is wrong.
func (p *parser) rejectIf(wrong bool, about, text string, at int) {
	if wrong {
		p.reject(about, text, at)
	}
}

// unexpected rejects a token that cannot follow an operand.
func (p *parser) unexpected() {
	p.check("unexpected", p.src[p.pos:], p.pos)
	p.reject("sign", p.src[p.pos:], p.pos)
}

// try calls a function of the parser, and returns the mistake that stopped the parser. For a condition, a row
// about "whole" replaces the message and the hint.
func (p *parser) try(parse func()) (mistake *Error) {
	defer func() {
		problem := recover()
		if mistake, _ = problem.(*Error); mistake == nil && problem != nil {
			panic(problem)
		}
		if mistake != nil && !p.list {
			message, hint, _ := findRow("whole", p.src)
			mistake.Message, mistake.Hint = cmp.Or(message, mistake.Message), cmp.Or(hint, mistake.Hint)
		}
	}()
	parse()
	return nil
}

// note adds names of Expr.Reads. $output is both outputs.
func (p *parser) note(names ...string) {
	p.reads = append(p.reads, names...)
	if slices.Contains(names, "output") {
		p.reads = append(p.reads, "stdout", "stderr")
	}
}

// notePath adds the names for a path.
func (p *parser) notePath(path *path) {
	switch {
	case path.root == "json" || path.root == "..":
		p.note(".", "other members", "json")
	case path.root == "element":
		p.note(".", "other members", "object", "element")
	case path.root != "":
		p.note(path.root)
	case p.inner:
	case len(path.steps) > 0 && path.steps[0].kind == stepField && isOneOf(path.steps[0].key, " error errors "):
		p.note(".", "error members", "object")
	default:
		p.note(".", "other members", "object")
	}
}

// at returns the byte at offset i, 0 after the end.
func (p *parser) at(i int) byte {
	if i < len(p.src) {
		return p.src[i]
	}
	return 0
}

// take ends a token at an offset, and skips white space before the next token.
func (p *parser) take(end int) {
	p.pos, p.end = end, end
	p.skip()
}

// skip skips white space.
func (p *parser) skip() { p.pos = p.space(p.pos) }

// space returns the offset after the white space at offset i.
func (p *parser) space(i int) int {
	return len(p.src) - len(strings.TrimLeft(p.src[min(i, len(p.src)):], " \t\r\n"))
}

// word returns the letters and digits at offset i.
func (p *parser) word(i int) string {
	rest := p.src[min(i, len(p.src)):]
	return rest[:len(rest)-len(strings.TrimLeftFunc(rest, isWord))]
}

// match reads the text that a pattern matches at the position. It returns "" if nothing matches.
func (p *parser) match(pattern func() *regexp.Regexp) string {
	text := pattern().FindString(p.src[p.pos:])
	p.pos += len(text)
	return text
}

func isWord(r rune) bool  { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isQuote(c byte) bool { return c == '"' || c == '\'' }

// startsName reports whether a name begins at offset i.
func (p *parser) startsName(i int) bool {
	r, _ := utf8.DecodeRuneInString(p.src[min(i, len(p.src)):])
	return r == '_' || r == '\\' || unicode.IsLetter(r)
}

var operator = words.Pattern(`^(?:[=!]=|[<>]=?|[=!]~|&&|\|\|?|//|[!();,])`)

// operatorAt returns the operator at offset i and its spelling in the source. It returns "" for any other token. A
// word such as "in" counts as an operator everywhere.
func (p *parser) operatorAt(i int) (sign, source string) {
	switch word := p.word(i); {
	case word == "and":
		return "&&", word
	case word == "or":
		return "||", word
	case opposites[word] != "":
		return word, word
	}
	sign = operator().FindString(p.src[i:])
	isCut := sign != "" && strings.IndexByte("=<>", p.at(i+len(sign))) >= 0 && !strings.Contains("();,", sign)
	p.rejectIf(isCut, "sign", p.src[i:], i)
	return sign, sign
}

// accept reads an operator, and reports whether the operator was the next token.
func (p *parser) accept(operator string) bool {
	sign, source := p.operatorAt(p.pos)
	if sign != operator {
		return false
	}
	p.take(p.pos + len(source))
	return true
}

// Texts in quotes have the escapes of JSON in double quotes, and only \' and \\ in single quotes.
var (
	quotedText = words.Pattern(`(?s)^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
	escapes    = words.Pattern(`\\(u[0-9a-fA-F]{4}|["\\/bfnrt])?`)
	controls   = words.Pattern(`[\x00-\x1f]`)
)

// quoted reads a text in quotes.
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

// endBracket reads the ] for the [ at an offset.
func (p *parser) endBracket(open int) {
	p.skip()
	p.rejectIf(p.at(p.pos) != ']', "bracket", p.src[p.pos:], open)
	p.pos++
}

// member reads .name with a form of name, or ["name"]. It returns "" for any other token.
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

// Names after a dot.
var (
	fieldName   = words.Pattern(`^\.[\pL\pNd_-]*`) // of a header
	environName = words.Pattern(`^\.[\pL\pNd_]*`)
)

// lookUp returns a variable of the environment. The variable has to have more than blanks: every text
// begins with and contains the empty text.
func (p *parser) lookUp(name string, at int) string {
	p.rejectIf(p.environ == nil, "environ", name+" cannot stand here", at)
	text, isSet := p.environ(name)
	p.rejectIf(!isSet, "environ", name+" is not set", at)
	p.rejectIf(strings.TrimSpace(text) == "", "environ", name+" is empty", at)
	p.note("ENV")
	return text
}
