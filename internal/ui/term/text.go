package term

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Text from outside (answers, stderr, headers) may contain anything: sequences that
// move the cursor or rename the window, characters that reverse the text, commands
// that a CI service takes from the log. Everything shown of it passes [Line],
// [Block] or [Lines].

const (
	// prefix begins every line of a block, so that no line can begin with the
	// "::" of a GitHub Actions command, or be taken for one of poll's own.
	prefix = "| "
	tab    = "    "
	// maxLine is the longest line that Lines waits for, in bytes. A longer
	// one is written in pieces, each on a line of its own.
	maxLine = 4096
)

// Line returns text from outside as part of one line: newlines become \n, tabs a
// space, and invisible characters their number (see [Block]). Space at both ends is
// removed.
func Line(s string) string {
	s = strings.TrimFunc(s, unicode.IsSpace)
	if !strings.ContainsFunc(s, mayHarm) {
		return strings.Clone(s)
	}
	var b strings.Builder
	sanitize(&b, s)
	return b.String()
}

// mayHarm returns false for most characters that [sanitize] does not change. It is fast.
func mayHarm(r rune) bool { return r < ' ' || r > '~' || r == '#' }

// Block returns text from outside as separate lines, each beginning with "| " and
// ending with a newline; for empty text there are none. A tab is four spaces, a
// carriage return before a newline is dropped. Other control characters and bytes
// that are not UTF-8 are shown as \xNN, invisible format characters (which may
// reverse the text) as \u{NNNN}, and the "##[" with which CI services begin a
// command anywhere in a line is broken up.
func Block(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		blockLine(&b, strings.TrimSuffix(line, "\n"))
	}
	return b.String()
}

// blockLine writes one line of a block.
func blockLine(b *strings.Builder, line string) {
	b.WriteString(prefix)
	sanitize(b, strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", tab))
	b.WriteByte('\n')
}

// sanitize writes text from outside as part of one line.
func sanitize(b *strings.Builder, s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		shown := s[i : i+n]
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			shown = ""
		case r == '\n':
			shown = `\n`
		case r == '\t':
			shown = " "
		case r == utf8.RuneError && n == 1:
			shown = fmt.Sprintf(`\x%02x`, s[i])
		case r == '#' && beginsCommand(s, i):
			shown = `\x23`
		case unicode.IsControl(r):
			shown = fmt.Sprintf(`\x%02x`, r)
		case hidden(r):
			shown = fmt.Sprintf(`\u{%04x}`, r)
		}
		b.WriteString(shown)
		i += n
	}
}

// hidden reports whether r is invisible but changes how its neighbours look: a
// format character (Unicode category Cf) or a line separator, but not a joiner that
// emoji, Indic and Persian words need, nor a visible mark.
func hidden(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	if r < 0x80 || r == zwnj || r == zwj {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// beginsCommand reports whether the second # of "##[", "##vso[" or "##teamcity[" is
// at s[i]. GitHub and Azure find these even in the middle of a line, so a prefix
// does not make them harmless.
func beginsCommand(s string, i int) bool {
	if i == 0 || s[i-1] != '#' {
		return false
	}
	rest := strings.TrimLeft(s[i+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasPrefix(rest, "[")
}

// Lines sanitizes text from outside as [Block] does, line by line as it comes. The zero value
// has no text. It must not be used by two goroutines at once.
type Lines struct {
	unfinished []byte
}

// Add returns the lines that p completes.
func (l *Lines) Add(p []byte) string {
	text := append(l.unfinished, p...)
	var b strings.Builder
	for {
		line, rest, isWhole := bytes.Cut(text, []byte("\n"))
		switch {
		case len(line) > maxLine:
			end := maxLine
			for end > maxLine-utf8.UTFMax && !utf8.RuneStart(line[end]) {
				end--
			}
			line, rest = text[:end], text[end:]
		case !isWhole:
			l.unfinished = text
			return b.String()
		}
		blockLine(&b, string(line))
		text = rest
	}
}

// Rest returns the unfinished line, as if it had ended.
func (l *Lines) Rest() string {
	text := Block(string(l.unfinished))
	l.unfinished = nil
	return text
}

// condition sets the width of characters. Unlike the library's default, it ignores
// the locale: terminals show ambiguous characters narrow.
func condition() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width returns how many columns s takes on a terminal. Wide characters count as
// two, combining ones as none. s must not contain escape sequences.
func Width(s string) int { return condition().StringWidth(s) }

// Cut returns s if it fits into width columns, and otherwise its beginning
// followed by mark, which together fit. A width of 0 or less gives "".
func Cut(s string, width int, mark string) string {
	if width <= 0 {
		return ""
	}
	if Width(mark) >= width {
		mark = ""
	}
	return condition().Truncate(s, width, mark)
}

// colour matches what [Palette.Paint] writes around a word.
var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

// Fold breaks text between words into lines of at most width columns, those below the first with an indent.
// A word that is longer stays whole: the terminal breaks it so that it can be copied.
func Fold(text string, width int, indent string) (lines []string) {
	line, columns := "", 0
	for i, word := range strings.Split(text, " ") {
		added := Width(colour().ReplaceAllString(word, ""))
		switch {
		case i == 0:
			line, columns = word, added
		case columns+1+added > width && strings.TrimSpace(line) != "":
			lines, line, columns = append(lines, strings.TrimRight(line, " ")), indent+word, Width(indent)+added
		default:
			line, columns = line+" "+word, columns+1+added
		}
	}
	return append(lines, strings.TrimRight(line, " "))
}

// CutFront cuts like [Cut], but keeps the end: the ends of names differ more often.
func CutFront(s string, width int, mark string) string {
	columns := Width(s)
	if columns <= width || width <= Width(mark) {
		return Cut(s, width, "")
	}
	return condition().TruncateLeft(s, columns-width+Width(mark), mark)
}
