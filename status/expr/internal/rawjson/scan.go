package rawjson

import "math/bits"

// MaxDepth is the deepest nesting of lists and objects in an answer that is read.
// Some parsers stop at 256, some at 10,000; gjson stops nowhere, and a body of
// nothing but "[" would exhaust the stack.
const MaxDepth = 1000

// A Flaw is what is wrong with a JSON text.
type Flaw uint8

// The flaws. A valid text has NoFlaw.
const (
	NoFlaw    Flaw = iota
	BadSyntax      // a character that does not belong there
	TooShort       // the text ends too early
	TooDeep        // lists and objects are nested too deep
)

// Valid reports whether s is one JSON value, nested no deeper than MaxDepth, with
// white space around it.
func Valid(s string) bool {
	i, flaw := Scan(s, 0, MaxDepth)
	return flaw == NoFlaw && SkipSpace(s, i) == len(s)
}

// Scan checks the JSON value (RFC 8259) that begins at s[i], after white space. It
// returns the offset after the value, or the offset of the flaw. It reads lists and
// objects nested up to maxDepth, which is MaxDepth or less, without recursion. Like
// encoding/json it lets invalid UTF-8 pass.
func Scan(s string, i, maxDepth int) (int, Flaw) {
	var closing brackets
	return scan(s, i, maxDepth, &closing)
}

// brackets are those that close what is open.
type brackets [MaxDepth]byte

// scan is Scan with room for brackets.
func scan(s string, i, maxDepth int, closing *brackets) (int, Flaw) {
	depth := 0
	for {
		var flaw Flaw
		if i = SkipSpace(s, i); i < len(s) && (s[i] == '{' || s[i] == '[') {
			if depth == maxDepth {
				return i, TooDeep
			}
			closing[depth] = s[i] + 2
			if i = SkipSpace(s, i+1); i >= len(s) || s[i] != closing[depth] {
				if closing[depth] == '}' {
					if i, flaw = scanKey(s, i); flaw != NoFlaw {
						return i, flaw
					}
				}
				depth++
				continue
			}
			i++
		} else if i, flaw = scanScalar(s, i); flaw != NoFlaw {
			return i, flaw
		}
		for depth > 0 {
			if i = SkipSpace(s, i); i < len(s) && s[i] == closing[depth-1] {
				i++
				depth--
				continue
			}
			if i >= len(s) {
				return i, TooShort
			}
			if s[i] != ',' {
				return i, BadSyntax
			}
			i++
			if closing[depth-1] == '}' {
				if i, flaw = scanKey(s, SkipSpace(s, i)); flaw != NoFlaw {
					return i, flaw
				}
			}
			break
		}
		if depth == 0 {
			return i, NoFlaw
		}
	}
}

// scanScalar scans what is neither a list nor an object.
func scanScalar(s string, i int) (int, Flaw) {
	if i >= len(s) {
		return i, TooShort
	}
	switch s[i] {
	case '"':
		return ScanString(s, i)
	case 't':
		return scanWord(s, i, "true")
	case 'f':
		return scanWord(s, i, "false")
	case 'n':
		return scanWord(s, i, "null")
	}
	return ScanNumber(s, i)
}

// scanKey scans the key at s[i] and the colon after it.
func scanKey(s string, i int) (int, Flaw) {
	if i >= len(s) {
		return i, TooShort
	}
	if s[i] != '"' {
		return i, BadSyntax
	}
	i, flaw := ScanString(s, i)
	if flaw != NoFlaw {
		return i, flaw
	}
	switch i = SkipSpace(s, i); {
	case i >= len(s):
		return i, TooShort
	case s[i] != ':':
		return i, BadSyntax
	}
	return i + 1, NoFlaw
}

// SkipSpace returns the offset of the first character from s[i] on that is not
// white space.
func SkipSpace(s string, i int) int {
	for i < len(s) && s[i] <= ' ' && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// ScanString is Scan for the string whose opening quote is s[i]. It looks at
// eight bytes at a time.
func ScanString(s string, i int) (int, Flaw) {
	for i++; i < len(s); {
		if i+8 <= len(s) {
			stop := stops(load64(s[i : i+8]))
			if stop == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(stop) >> 3
		}
		switch c := s[i]; {
		case c == '"':
			return i + 1, NoFlaw
		case c == '\\':
			var flaw Flaw
			if i, flaw = scanEscape(s, i); flaw != NoFlaw {
				return i, flaw
			}
		case c < ' ':
			return i, BadSyntax
		default:
			i++
		}
	}
	return i, TooShort
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops sets the high bit of each byte that is a quote, a backslash or a control
// character in w. The lowest such bit is exact, those above it may be wrong.
func stops(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
}

// load64 reads eight bytes, the first as the lowest.
func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// scanEscape scans the escape whose backslash is s[i].
func scanEscape(s string, i int) (int, Flaw) {
	if i++; i >= len(s) {
		return i, TooShort
	}
	switch s[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1, NoFlaw
	case 'u':
		for range 4 {
			if i++; i >= len(s) {
				return i, TooShort
			}
			if c := s[i] | 0x20; !IsDigit(s[i]) && (c < 'a' || c > 'f') {
				return i, BadSyntax
			}
		}
		return i + 1, NoFlaw
	}
	return i, BadSyntax
}

// scanWord scans the given word.
func scanWord(s string, i int, word string) (int, Flaw) {
	for j := range len(word) {
		if i+j >= len(s) {
			return i + j, TooShort
		}
		if s[i+j] != word[j] {
			return i + j, BadSyntax
		}
	}
	return i + len(word), NoFlaw
}

// ScanNumber is Scan for the number that begins at s[i].
func ScanNumber(s string, i int) (int, Flaw) {
	if s[i] == '-' {
		i++
	}
	start := i
	i, flaw := scanDigits(s, i)
	if flaw == NoFlaw && s[start] == '0' {
		i = start + 1 // no other digit may follow
	}
	if flaw == NoFlaw && i < len(s) && s[i] == '.' {
		i, flaw = scanDigits(s, i+1)
	}
	if flaw == NoFlaw && i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		i, flaw = scanDigits(s, i)
	}
	return i, flaw
}

// scanDigits scans one digit or more.
func scanDigits(s string, i int) (int, Flaw) {
	if i >= len(s) {
		return i, TooShort
	}
	if !IsDigit(s[i]) {
		return i, BadSyntax
	}
	for i < len(s) && IsDigit(s[i]) {
		i++
	}
	return i, NoFlaw
}

// IsDigit reports whether c is one of 0 to 9.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }
