package term

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// condition says how wide characters are. It does not look at the locale, as
// the library's own default does: terminals show ambiguous ones narrow.
func condition() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width returns how many columns s takes on a terminal. Wide characters count
// as two, combining ones as none. s holds no escape sequences.
func Width(s string) int { return condition().StringWidth(s) }

// Cut returns s if it fits into width columns, and otherwise its beginning
// followed by mark, which together fit. A width of 0 or less gives "".
func Cut(s string, width int, mark string) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width {
		return s // no character takes more columns than bytes
	}
	// No more than this can fit, however narrow: a long text costs no more
	// than a short one.
	if limit := 16 * (width + 1); len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit] + strings.Repeat(" ", width+1)
	}
	if Width(mark) >= width {
		mark = ""
	}
	return condition().Truncate(s, width, mark)
}
