package rawjson

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Compact writes a valid JSON text without white space, and its strings and numbers
// in the usual form.
func Compact(raw string) string {
	b := make([]byte, 0, len(raw))
	for i := SkipSpace(raw, 0); i < len(raw); i = SkipSpace(raw, i) {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = scalarEnd(raw, i)
			b = append(b, Quote(Unquote(raw[i:end]))...)
		case c == '-' || IsDigit(c):
			end = scalarEnd(raw, i)
			b = append(b, FormatNumber(raw[i:end])...)
		default:
			b = append(b, c)
		}
		i = end
	}
	return string(b)
}

// Quote writes text as a JSON string. What is not UTF-8 becomes U+FFFD.
func Quote(text string) string {
	b := append(make([]byte, 0, len(text)+2), '"')
	for _, r := range text {
		switch r {
		case '"', '\\':
			b = append(b, '\\', byte(r))
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			if r < ' ' || r == 0x7f {
				b = fmt.Appendf(b, `\u%04x`, r)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return string(append(b, '"'))
}

// Unquote returns the characters of a valid JSON string.
func Unquote(raw string) string { return gjson.Parse(raw).Str }

// IsEmpty reports whether a valid list or object has no members.
func IsEmpty(raw string) bool { return SkipSpace(raw, 1) == len(raw)-1 }

// previewSize is how many characters of a value are shown.
const previewSize = 60

// Preview shows text in quotes, with unprintable characters escaped.
func Preview(s string) string {
	s, cut := Cut(s, previewSize)
	if isPlain(s) && !strings.ContainsAny(s, `"\`) {
		s = `"` + s + `"`
	} else {
		s = strconv.Quote(s)
	}
	if cut {
		return s + "..."
	}
	return s
}

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// PreviewJSON shows JSON text on one line.
func PreviewJSON(raw string) string {
	s, cut := Cut(raw, 4*previewSize) // white space goes first
	s, cutAgain := Cut(strings.Join(strings.Fields(s), " "), previewSize)
	s = OneLine(s)
	if cut || cutAgain {
		return s + "..."
	}
	return s
}

// OneLine makes text fit on a line: white space becomes blanks, and unprintable
// characters become U+FFFD.
func OneLine(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Cut cuts s to max characters.
func Cut(s string, max int) (string, bool) {
	if len(s) <= max {
		return s, false
	}
	n := 0
	for i := range s {
		if n == max {
			return s[:i], true
		}
		n++
	}
	return s, false
}
