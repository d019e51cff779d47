package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text from outside (answers, stderr, headers) may hold anything: sequences
// that move the cursor or rename the window, characters that reverse what a
// person reads, commands that a CI service takes from the log. Everything that
// is shown of it passes [Line], [Block] or a [LineWriter].

// prefix begins every line of a block, so that no line can begin with the
// "::" of a GitHub Actions command, or be taken for one of poll's own.
const prefix = "| "

// tabWidth is the distance of the tab stops to which tabs are expanded.
const tabWidth = 8

// Line returns text from outside as part of one line: newlines become \n, tabs
// a space, and what is not meant to be seen is shown by its number (see
// [Block]). Space at both ends is removed.
func Line(s string) string {
	var b strings.Builder
	c := cleaner{b: &b, newline: `\n`}
	c.text(strings.TrimFunc(s, unicode.IsSpace))
	return b.String()
}

// Block returns text from outside as lines of their own, each beginning with
// "| " and ending with a newline; empty text gives none. Tabs are expanded, a
// carriage return before a newline is dropped. Other control characters and
// bytes that are not UTF-8 are shown as \xNN, invisible format characters
// (which may reverse the text) as \u{NNNN}, and the "##[" with which CI
// services begin a command anywhere in a line is broken up.
func Block(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		writeLine(&b, line)
	}
	return b.String()
}

// writeLine writes one line of a block; line holds no newline.
func writeLine(b *strings.Builder, line string) {
	b.WriteString(prefix)
	c := cleaner{b: b, newline: `\n`, tabs: true}
	c.text(strings.TrimSuffix(line, "\r"))
	b.WriteByte('\n')
}

// A cleaner writes text from outside into one line.
type cleaner struct {
	b       *strings.Builder
	newline string // what is written for a newline
	tabs    bool   // expand tabs; a space for each otherwise
	column  int    // characters written
}

func (c *cleaner) text(s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n' || r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			if r == '\n' {
				c.put(c.newline)
			}
		case r == '\t':
			c.tab()
		case r == utf8.RuneError && n == 1:
			c.put(fmt.Sprintf(`\x%02x`, s[i]))
		case r == '#' && beginsCommand(s, i):
			c.put(`\x23`)
		case unicode.IsControl(r):
			c.put(fmt.Sprintf(`\x%02x`, r))
		case hidden(r):
			c.put(fmt.Sprintf(`\u{%04x}`, r))
		default:
			c.b.WriteString(s[i : i+n])
			c.column++
		}
		i += n
	}
}

func (c *cleaner) put(s string) {
	c.b.WriteString(s)
	c.column += len(s)
}

func (c *cleaner) tab() {
	if !c.tabs {
		c.put(" ")
		return
	}
	c.put(strings.Repeat(" ", tabWidth-c.column%tabWidth))
}

// hidden reports whether r is invisible but changes how its neighbours look:
// format characters (Unicode category Cf) and line separators. The joiners
// that emoji and Indic and Persian words need, and the marks that are visible,
// are none.
func hidden(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	if r < 0x80 || r == zwnj || r == zwj {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// beginsCommand reports whether the second # of "##[", "##vso[" or
// "##teamcity[" is at s[i]. GitHub and Azure find these in the middle of a
// line too, so a prefix does not keep them harmless.
func beginsCommand(s string, i int) bool {
	if i == 0 || s[i-1] != '#' {
		return false
	}
	rest := strings.TrimLeft(s[i+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasPrefix(rest, "[")
}
