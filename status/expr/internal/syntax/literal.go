package syntax

import (
	"encoding/json"
	"strconv"
	"strings"
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
		n := 0
		for isUnicodeEscape(l.src[i+n:]) {
			n += len(`\u0000`)
		}
		var s string // a character may take two of them
		if err := json.Unmarshal([]byte(`"`+l.src[i:i+n]+`"`), &s); err == nil && n > 0 {
			return append(b, s...), n
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

// isUnicodeEscape reports whether s begins with \uXXXX.
func isUnicodeEscape(s string) bool {
	if len(s) < 6 || s[:2] != `\u` {
		return false
	}
	_, err := strconv.ParseUint(s[2:6], 16, 32)
	return err == nil
}

// numeric reads a number, a duration, or a bare path that begins with an index.
func (l *lexer) numeric(t *token) {
	start := l.pos
	if l.isIndexPath(start) {
		t.kind, t.path = tokPath, l.path()
		return
	}
	end := start + 1
	for isWordByte(l.at(end)) || l.at(end) == '.' || (l.at(end) == '+' || l.at(end) == '-') && l.at(end-1)|0x20 == 'e' {
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

// isIndexPath reports whether digits at offset i begin a path such as 0.name.
func (l *lexer) isIndexPath(i int) bool {
	from := i
	for rawjson.IsDigit(l.at(i)) {
		i++
	}
	if i == from || l.at(i) != '.' || l.prev.compareOp() != 0 {
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
	c, closing := Constant{Kind: Array}, byte(']')
	if l.src[start] == '{' {
		c.Kind, closing = Object, '}'
	}
	end, flaw := rawjson.Scan(l.src, start, maxNesting)
	close := strings.IndexByte(l.src[start:], closing)
	switch {
	case flaw == rawjson.NoFlaw:
		c.Raw, l.pos = l.src[start:end], end
	case flaw == rawjson.TooDeep:
		l.fail(start, "", "nested deeper than %d levels", maxNesting)
	case close < 0:
		l.fail(start, "", "the bracket %c is not closed", l.src[start])
	default:
		l.refuseConstant(start, l.src[start:start+close+1])
	}
	return c
}
