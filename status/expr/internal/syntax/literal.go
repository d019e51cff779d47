package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// quoted reads the string that begins at l.pos with a quote of either kind.
func (l *lexer) quoted() string {
	start, quote := l.pos, l.src[l.pos]
	var b []byte
	for i := start + 1; i < len(l.src); {
		switch c := l.src[i]; {
		case c == quote:
			l.pos = i + 1
			return string(b)
		case c == '\\' && quote == '"':
			var n int
			if b, n = l.escape(b, i); n == 0 {
				return ""
			}
			i += n
		case c == '\\' && (l.at(i+1) == '\'' || l.at(i+1) == '\\'):
			b = append(b, l.src[i+1])
			i += 2
		default:
			b = append(b, c)
			i++
		}
	}
	l.fail(start, "", "the quote %c is not closed", quote)
	return ""
}

// escape appends what the escape at offset i stands for, and returns its length,
// 0 if it is wrong.
func (l *lexer) escape(b []byte, i int) ([]byte, int) {
	const plain, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := l.at(i + 1)
	if n := strings.IndexByte(plain, c); n >= 0 && c != 0 {
		return append(b, escaped[n]), 2
	}
	switch {
	case c == 'u':
		if r, n := unicodeEscape(l.src[i:]); n > 0 {
			return utf8.AppendRune(b, r), n
		}
		l.fail(i, "", `\u needs four hexadecimal digits`)
	case c == '(':
		l.fail(i, "there are no computed strings; compare the parts one by one", `"\(...)" is jq's interpolation`)
	case c == 0:
		l.fail(l.pos, "", `the quote " is not closed`)
	default:
		r, _ := utf8.DecodeRuneInString(l.src[i+1:])
		l.fail(i, `for a pattern use single quotes, where \ is itself: '\`+string(r)+`+'`, `\%c is not an escape in double quotes`, r)
	}
	return b, 0
}

// unicodeEscape decodes the \uXXXX, or the pair of them, at the start of s. It
// returns its length, 0 if it is malformed.
func unicodeEscape(s string) (rune, int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(s[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}

// numeric reads a number, a duration, or a bare path that begins with an index.
func (l *lexer) numeric(t *token) {
	start := l.pos
	if l.src[start] == '-' && l.prev.endsOperand() {
		l.fail(start, hintArithmetic, "poll does not calculate")
		return
	}
	if l.isIndexPath(start) {
		t.kind, t.path = tokPath, l.path()
		return
	}
	end := start + 1
	for isNumeric(l.at(end)) || (l.at(end) == '+' || l.at(end) == '-') && l.at(end-1)|0x20 == 'e' {
		end++
	}
	word := l.src[start:end]
	raw, ok := parseQuantity(word)
	if !ok {
		l.fail(start, numberHint(word), "%s is not a number", word)
		return
	}
	t.kind, t.lit, l.pos = tokLiteral, Constant{Kind: Number, Raw: raw}, end
}

func isNumeric(c byte) bool {
	return rawjson.IsDigit(c) || c == '.' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// isIndexPath reports whether digits at offset i begin a path such as 0.name.
func (l *lexer) isIndexPath(i int) bool {
	from := i
	for rawjson.IsDigit(l.at(i)) {
		i++
	}
	if i == from || l.at(i) != '.' || l.prev.kind == tokOperator && isCompareOp(l.prev.text) {
		return false
	}
	c := l.at(i + 1)
	return c == '#' || c == '@' || c == '*' || l.startsName(i+1)
}

// parseQuantity reads a JSON number with an optional unit of time, which makes
// it a number of seconds.
func parseQuantity(word string) (string, bool) {
	digits := strings.TrimRight(word, "mhs")
	end, f := rawjson.ScanNumber(digits, 0)
	if f != rawjson.NoFlaw || end != len(digits) {
		return "", false
	}
	switch word[end:] {
	case "", "s":
		return digits, true
	case "ms":
		return rawjson.ScaleNumber(digits, 1, -3), true
	case "m":
		return rawjson.ScaleNumber(digits, 60, 0), true
	case "h":
		return rawjson.ScaleNumber(digits, 3600, 0), true
	}
	return "", false
}

// constant reads the JSON list or object at l.pos.
func (l *lexer) constant() Constant {
	start := l.pos
	end, f := rawjson.Scan(l.src, start, rawjson.MaxDepth)
	if f == rawjson.NoFlaw {
		l.pos = end
		if depthOf(l.src[start:end]) > maxNesting {
			l.fail(start, "", "nested deeper than %d levels", maxNesting)
		}
		c := Constant{Kind: Array, Raw: l.src[start:end]}
		if l.src[start] == '{' {
			c.Kind = Object
		}
		return c
	}
	closing := l.matching(start)
	if closing < 0 {
		l.fail(start, "", "the bracket %c is not closed", l.src[start])
		return Constant{}
	}
	message, hint := wrongConstant(l.src[start : closing+1])
	l.fail(start, hint, "%s", message)
	return Constant{}
}

// depthOf is how deep a valid JSON text is nested.
func depthOf(raw string) int {
	depth, deepest := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		case '"':
			i, _ = rawjson.ScanString(raw, i)
			i--
		}
	}
	return deepest
}

// matching is the offset of the bracket that closes the one at offset i, with
// brackets of every kind counted and strings skipped; -1 if there is none.
func (l *lexer) matching(i int) int {
	depth := 0
	for ; i < len(l.src); i++ {
		switch l.src[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		case '\\':
			i++
		case '"':
			end, f := rawjson.ScanString(l.src, i)
			if f == rawjson.TooShort {
				return -1
			}
			if f == rawjson.NoFlaw {
				i = end - 1
			}
		}
	}
	return -1
}
