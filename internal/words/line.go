package words

import (
	"strings"
	"unicode"
)

// OneLine makes text fit on a line: white space becomes blanks, and unprintable
// characters become U+FFFD.
func OneLine(s string) string {
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

// Cut returns the first characters of s, at most max.
func Cut(s string, max int) string {
	for i := range s {
		if max--; max < 0 {
			return s[:i]
		}
	}
	return s
}

// Shorten cuts s, and shows that.
func Shorten(s string, max int) string {
	if short := Cut(s, max); len(short) < len(s) {
		return short + "..."
	}
	return s
}
