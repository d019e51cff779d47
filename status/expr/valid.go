package expr

import "math/bits"

// maxDepth is the deepest nesting of lists and objects that is read. Some
// parsers stop at 256, some at 10,000; gjson stops nowhere, and a body of
// nothing but "[" would exhaust the stack.
const maxDepth = 1000

// A flaw is what is wrong with a JSON text.
type flaw uint8

const (
	flawNone   flaw = iota
	flawSyntax      // a character that cannot stand there
	flawShort       // the text ends too early
	flawDeep        // nested deeper than maxDepth
)

// scanJSON checks the one JSON value (RFC 8259) that begins at s[i], after white
// space. It returns the offset behind the value, or the offset of the flaw. It
// does not recurse, and like encoding/json it lets invalid UTF-8 pass.
func scanJSON(s string, i int) (int, flaw) {
	var nest nesting
	for {
		var f flaw
		if i, f = nest.open(s, skipSpace(s, i)); f != flawNone {
			return i, f
		}
		for more := false; !more; {
			if nest.depth == 0 {
				return i, flawNone
			}
			if i, more, f = nest.next(s, skipSpace(s, i)); f != flawNone {
				return i, f
			}
		}
	}
}

// nesting is the stack of open lists and objects.
type nesting struct {
	depth  int
	object [maxDepth/64 + 1]uint64 // one bit each, set for an object
}

// open scans up to the end of the first scalar, or of the first empty list or
// object, that begins at s[i].
func (n *nesting) open(s string, i int) (int, flaw) {
	for i < len(s) {
		switch c := s[i]; c {
		case '"':
			return scanString(s, i+1)
		case '{', '[':
			if !n.push(c == '{') {
				return i, flawDeep
			}
			i = skipSpace(s, i+1)
			if i < len(s) && s[i] == c+2 {
				n.depth--
				return i + 1, flawNone
			}
			if c == '{' {
				var f flaw
				if i, f = scanKey(s, i); f != flawNone {
					return i, f
				}
			}
		case 't':
			return scanWord(s, i, "true")
		case 'f':
			return scanWord(s, i, "false")
		case 'n':
			return scanWord(s, i, "null")
		default:
			return scanNumber(s, i)
		}
	}
	return i, flawShort
}

// next scans what follows a value inside of a list or an object. more is true
// when that is another value, which begins, after white space, at the offset.
func (n *nesting) next(s string, i int) (_ int, more bool, _ flaw) {
	if i >= len(s) {
		return i, false, flawShort
	}
	object := n.inObject()
	switch c := s[i]; {
	case c == ',' && object:
		i, f := scanKey(s, skipSpace(s, i+1))
		return i, true, f
	case c == ',':
		return i + 1, true, flawNone
	case c == '}' && object, c == ']' && !object:
		n.depth--
		return i + 1, false, flawNone
	}
	return i, false, flawSyntax
}

func (n *nesting) push(object bool) bool {
	if n.depth == maxDepth {
		return false
	}
	bit := uint64(1) << (n.depth & 63)
	if object {
		n.object[n.depth>>6] |= bit
	} else {
		n.object[n.depth>>6] &^= bit
	}
	n.depth++
	return true
}

func (n *nesting) inObject() bool {
	top := n.depth - 1
	return n.object[top>>6]>>(top&63)&1 != 0
}

// scanKey scans the key that begins at s[i] and the colon after it, up to where
// the value begins.
func scanKey(s string, i int) (int, flaw) {
	if i >= len(s) {
		return i, flawShort
	}
	if s[i] != '"' {
		return i, flawSyntax
	}
	i, f := scanString(s, i+1)
	if f != flawNone {
		return i, f
	}
	if i < len(s) && s[i] != ':' {
		i = skipSpace(s, i)
	}
	if i >= len(s) {
		return i, flawShort
	}
	if s[i] != ':' {
		return i, flawSyntax
	}
	return skipSpace(s, i+1), flawNone
}

func skipSpace(s string, i int) int {
	for i < len(s) && s[i] <= ' ' && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// scanString scans the string whose opening quote is before s[i]. It looks at
// eight bytes at a time.
func scanString(s string, i int) (int, flaw) {
	for i < len(s) {
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
			return i + 1, flawNone
		case c == '\\':
			var f flaw
			if i, f = scanEscape(s, i); f != flawNone {
				return i, f
			}
		case c < ' ':
			return i, flawSyntax
		default:
			i++
		}
	}
	return i, flawShort
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops has the high bit of a byte set where w holds a quote, a backslash or a
// control character; the lowest of them is exact, those above it may be wrong.
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
func scanEscape(s string, i int) (int, flaw) {
	if i+1 >= len(s) {
		return len(s), flawShort
	}
	switch s[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, flawNone
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(s) {
				return j, flawShort
			}
			if !isHex(s[j]) {
				return j, flawSyntax
			}
		}
		return i + 6, flawNone
	}
	return i + 1, flawSyntax
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func scanWord(s string, i int, word string) (int, flaw) {
	for j := range len(word) {
		if i+j >= len(s) {
			return i + j, flawShort
		}
		if s[i+j] != word[j] {
			return i + j, flawSyntax
		}
	}
	return i + len(word), flawNone
}

func scanNumber(s string, i int) (int, flaw) {
	if s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else {
		var f flaw
		if i, f = scanDigits(s, i); f != flawNone {
			return i, f
		}
	}
	if i < len(s) && s[i] == '.' {
		var f flaw
		if i, f = scanDigits(s, i+1); f != flawNone {
			return i, f
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		return scanDigits(s, i)
	}
	return i, flawNone
}

// scanDigits scans one digit or more.
func scanDigits(s string, i int) (int, flaw) {
	if i >= len(s) {
		return i, flawShort
	}
	if !isDigit(s[i]) {
		return i, flawSyntax
	}
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i, flawNone
}

// isJSON reports whether s is exactly one JSON value that may be read.
func isJSON(s string) bool {
	i, f := scanJSON(s, 0)
	return f == flawNone && skipSpace(s, i) == len(s)
}
