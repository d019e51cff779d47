package syntax

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A token is a piece of the source.
type token struct {
	Span
	kind     tokenKind
	text     string // tokWord: the name; tokOperator: the sign; tokVariable: the name of a header
	variable VarName
	call     bool     // tokWord: an opening parenthesis follows at once
	lit      Constant // tokLiteral
	path     *Path    // tokPath
}

type tokenKind uint8

const (
	tokEnd      tokenKind = iota
	tokOperator           // a sign, or a word that stands between operands
	tokWord               // a function, true, false, null, not
	tokVariable           // $name
	tokLiteral            // a string, a number, a duration, a JSON list or object
	tokPath
)

// is reports whether the token is the operator or keyword.
func (t token) is(text string) bool {
	return (t.kind == tokOperator || t.kind == tokWord && !t.call) && t.text == text
}

// compareOp is the comparison operator that the token is, 0 for any other token.
func (t token) compareOp() CompareOp {
	if t.kind != tokOperator {
		return 0
	}
	return compareOp(t.text)
}

// endsOperand reports whether an operator, not an operand, must follow the token.
func (t token) endsOperand() bool {
	switch t.kind {
	case tokPath, tokLiteral, tokVariable:
		return true
	case tokWord:
		return t.text != "not" && !t.call
	}
	return t.kind == tokOperator && (t.text == ")" || t.text == "]")
}

// A lexer cuts the source into tokens. After the first error, which is kept, there are
// only end tokens.
type lexer struct {
	src  string
	pos  int
	prev token
	err  *Error

	environ Environ
	lastEnd int  // where the token before prev ended
	depth   int  // of queries in queries
	list    bool // .. alone is the list of the documents
}

// An Environ finds the value of a variable of the environment; nil finds none.
type Environ func(name string) (value string, ok bool)

// An Error says why an expression cannot be read; expr.Error describes the fields.
type Error struct {
	Offset  int
	Column  int
	Message string
	Hint    string
}

// fail notes the first error.
func (l *lexer) fail(pos int, hint, format string, args ...any) {
	if l.err == nil {
		pos = min(max(pos, 0), len(l.src))
		column := utf8.RuneCountInString(l.src[:pos]) + 1
		l.err = &Error{Offset: pos, Column: column, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	l.pos = len(l.src)
}

// at is the byte at offset i, 0 past the end.
func (l *lexer) at(i int) byte {
	if i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// next cuts the next token.
func (l *lexer) next() token {
	l.lastEnd = l.prev.To
	l.pos = rawjson.SkipSpace(l.src, l.pos)
	t := token{kind: tokEnd}
	t.From = l.pos
	if l.pos < len(l.src) {
		l.cut(&t)
	}
	if l.err != nil {
		t = token{kind: tokEnd, Span: Span{len(l.src), len(l.src)}}
	} else {
		t.To = l.pos
	}
	l.prev = t
	return t
}

// cut reads the token that begins at l.pos.
func (l *lexer) cut(t *token) {
	c := l.src[l.pos]
	first := !l.prev.endsOperand() // of an operand
	switch {
	case c == '"' || c == '\'':
		t.kind, t.lit = tokLiteral, Constant{Kind: String, Text: l.quoted()}
	case rawjson.IsDigit(c) || c == '-' && first && rawjson.IsDigit(l.at(l.pos+1)):
		l.numeric(t)
	case c == '.' || c == '#' || c == '@' || first && (c == '*' || c == '?'):
		t.kind, t.path = tokPath, l.path()
	case c == '$':
		l.variable(t)
	case c == '[' || c == '{':
		t.kind, t.lit = tokLiteral, l.constant()
	case l.startsName(l.pos):
		l.word(t)
	default:
		l.operator(t)
	}
}

// startsName reports whether a name begins at offset i.
func (l *lexer) startsName(i int) bool {
	if i >= len(l.src) {
		return false
	}
	c := l.src[i]
	if c < utf8.RuneSelf {
		return c == '_' || c == '\\' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	r, _ := utf8.DecodeRuneInString(l.src[i:])
	return unicode.IsLetter(r)
}

// wordEnd is the offset after the letters and digits at offset i.
func (l *lexer) wordEnd(i int) int {
	for i < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[i:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

// word reads a keyword, the name of a function, or a bare path.
func (l *lexer) word(t *token) {
	end := l.wordEnd(l.pos)
	name := l.src[l.pos:end]
	sign := wordOperator(name)
	afterNot := l.prev.is("not") && sign != name // the function, as in ".x | not and .y"
	if (afterNot || l.prev.endsOperand()) && sign != "" {
		t.kind, t.text, l.pos = tokOperator, sign, end
		return
	}
	if name == "not" && l.at(end) != '.' {
		t.kind, t.text, l.pos = tokWord, name, end
		return
	}
	if l.at(end) == '(' && end > l.pos {
		t.kind, t.text, t.call, l.pos = tokWord, name, true, end
		return
	}
	t.path = l.path()
	t.kind = tokPath
	if l.pos == end && isReserved(name) {
		t.kind, t.text, t.path = tokWord, name, nil
	}
}

// wordOperator is the sign for a word between two operands, "" for any other word.
func wordOperator(name string) string {
	switch name {
	case "and":
		return "&&"
	case "or":
		return "||"
	case "in", "contains", "startswith", "endswith":
		return name
	}
	return ""
}

// isReserved reports whether the word alone is not a path.
func isReserved(name string) bool {
	return name == "true" || name == "false" || name == "null" || wordOperator(name) != "" || isBare(name)
}

// operators are the signs, the longest first.
var operators = [...]string{"==", "!=", "=~", "!~", "<=", ">=", "&&", "||", "//", "<", ">", "!", "|", "(", ")", ";", ","}

// operator reads a sign.
func (l *lexer) operator(t *token) {
	start, rest := l.pos, l.src[l.pos:]
	for _, op := range &operators {
		if strings.HasPrefix(rest, op) {
			t.kind, t.text = tokOperator, op
			l.pos += len(op)
			break
		}
	}
	if c := l.at(l.pos); t.text == "" || c == '=' || c == '<' || c == '>' {
		l.refuse(start, "", signHabits, starts(rest))
	}
	if t.text == "" {
		r, _ := utf8.DecodeRuneInString(rest)
		l.refuseCharacter(start, r)
	}
}

// variable reads $name, $header.Name, $ENV.NAME and $json with its path.
func (l *lexer) variable(t *token) {
	start := l.pos
	end := l.wordEnd(start + 1)
	name := l.src[start+1 : end]
	l.pos = end
	if name == "ENV" {
		t.kind, t.lit = tokLiteral, l.environment(start)
		return
	}
	v := slices.Index(variables[:], name)
	if v < 0 {
		l.fail(start, variableHint(name), "there is no variable $%s", name)
		return
	}
	t.kind, t.variable = tokVariable, VarName(v)
	switch t.variable {
	case VarHeader:
		t.text = l.member("-")
		if t.text == "" {
			l.fail(start, `write $header.Retry-After or $header["Retry-After"]`, "$header needs the name of a header")
		}
	case VarJSON:
		t.kind, t.path = tokPath, l.jsonPath(start)
	}
}

// environment reads the name after $ENV, and the value of the variable.
func (l *lexer) environment(start int) Constant {
	name, value, ok := l.member(""), "", false
	if l.environ != nil && name != "" {
		value, ok = l.environ(name)
	}
	switch {
	case name == "":
		l.fail(start, hintEnvironment, "$ENV needs the name of a variable")
	case !ok:
		l.fail(start, "a variable of the shell has to be exported: export "+name, "$ENV.%s is not set", name)
	case strings.TrimSpace(value) == "": // which every text begins with and contains
		l.fail(start, `set it, or write "" for empty text`, "$ENV.%s is empty", name)
	}
	return Constant{Kind: String, Text: value, Secret: true}
}

// member reads the name after a variable, .name or ["name"], "" if there is none. Besides
// letters, digits and _ a name after a dot may hold the other characters.
func (l *lexer) member(other string) string {
	switch {
	case l.at(l.pos) == '[' && isQuote(l.at(rawjson.SkipSpace(l.src, l.pos+1))):
		open := l.pos
		l.pos = rawjson.SkipSpace(l.src, l.pos+1)
		name := l.quoted()
		l.closeBracket(open)
		return name
	case l.at(l.pos) == '.':
		from := l.pos + 1
		for l.pos = from; l.pos < len(l.src) && (isWordByte(l.src[l.pos]) || strings.IndexByte(other, l.src[l.pos]) >= 0); l.pos++ {
		}
		return l.src[from:l.pos]
	}
	return ""
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// isWordByte reports whether c is an ASCII letter, a digit or _.
func isWordByte(c byte) bool {
	return rawjson.IsDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
