package expr

import (
	"strconv"
	"strings"
	"unicode"
)

// previewSize is how many characters of a value are shown.
const previewSize = 60

// preview shows a value in words, cut to a line.
func (v value) preview() string {
	switch {
	case v.hidden && v.kind > KindNull:
		return "not shown"
	case v.kind == KindString:
		return previewText(v.str)
	case v.kind <= KindMissing:
		return v.kind.String()
	}
	return previewJSON(v.raw)
}

// previewText shows text in quotes, with what cannot be printed escaped.
func previewText(s string) string {
	s, cut := cutText(s, previewSize)
	if s = strconv.Quote(s); cut {
		return s + "..."
	}
	return s
}

// previewJSON shows JSON text on one line.
func previewJSON(raw string) string {
	s, cut := cutText(raw, 4*previewSize) // white space goes first
	s, cutAgain := cutText(strings.Join(strings.Fields(s), " "), previewSize)
	s = oneLine(s)
	if cut || cutAgain {
		return s + "..."
	}
	return s
}

// oneLine makes text fit for a line: white space becomes blanks, and what cannot
// be printed the replacement character.
func oneLine(s string) string {
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

// cutText cuts s to max characters.
func cutText(s string, max int) (string, bool) {
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
