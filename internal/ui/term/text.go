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

// Text from outside (responses, stderr, headers) may contain anything: sequences that move the cursor or rename
// the window, characters that reverse the text, and commands that a CI service reads from the log. All such text
// passes [Line], [Block] or [Lines] before it is shown.

const (
	// prefix is at the start of every line of a block. A line can then neither be a GitHub Actions command,
	// which starts with "::", nor look like a line of poll.
	prefix = "| "
	tab    = "    "
	// maxLine is the length in bytes of the longest line that Lines collects. Lines writes a longer line in
	// pieces, each on a separate line.
	maxLine = 4096
)

// Line returns s, a text from outside, as part of one line. A newline becomes \n and a tab becomes a space.
// Invisible characters become their number, as in [Block]. Space at both ends is removed.
func Line(s string) string {
	s = strings.TrimFunc(s, unicode.IsSpace)
	if !strings.ContainsFunc(s, mayHarm) {
		return strings.Clone(s)
	}
	var b strings.Builder
	sanitize(&b, s)
	return b.String()
}

// mayHarm returns false for most characters that [sanitize] does not change. It is a fast first test.
func mayHarm(r rune) bool { return r < ' ' || r > '~' || r == '#' }

// Block returns s, a text from outside, as separate lines. Each line starts with "| " and ends with a newline.
// An empty text has no lines.
//
// A tab becomes four spaces, and a carriage return before a newline is dropped. Other control characters, and
// bytes that are not UTF-8, become \xNN. Invisible format characters, which may reverse the text, become
// \u{NNNN}. In "##[", the start of a command for CI services, the second # becomes \x23.
func Block(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		blockLine(&b, strings.TrimSuffix(line, "\n"))
	}
	return b.String()
}

// blockLine writes line to b as one line of a block.
func blockLine(b *strings.Builder, line string) {
	b.WriteString(prefix)
	sanitize(b, strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", tab))
	b.WriteByte('\n')
}

// sanitize writes s, a text from outside, to b as part of one line.
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

// hidden reports whether r is invisible and changes how neighbouring characters look. Such characters are format
// characters (Unicode category Cf) and line separators. Joiners are excepted, since emoji, Indic and Persian
// words need them. Visible marks are excepted, too.
func hidden(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	if r < 0x80 || r == zwnj || r == zwj {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// beginsCommand reports whether s[i] is the second # of "##[", "##vso[" or "##teamcity[". GitHub and Azure find
// these commands even in the middle of a line, so prefix alone does not make them harmless.
func beginsCommand(s string, i int) bool {
	if i == 0 || s[i-1] != '#' {
		return false
	}
	rest := strings.TrimLeft(s[i+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasPrefix(rest, "[")
}

// Lines sanitizes text from outside as [Block] does, line by line as the text arrives. The zero value is ready
// to use. Two goroutines must not use a Lines at once.
type Lines struct {
	unfinished []byte
}

// Add adds p to the text and returns the lines that p completes.
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

// Rest returns the unfinished line as if it had ended, or "" without such a line.
func (l *Lines) Rest() string {
	text := Block(string(l.unfinished))
	l.unfinished = nil
	return text
}

// condition returns the rules for the width of characters. Unlike the default of the runewidth package, they
// ignore the locale: terminals show ambiguous characters narrow.
func condition() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width returns the number of columns that s takes on a terminal. A wide character takes two columns, and a
// combining character takes 0. s must not contain escape sequences.
func Width(s string) int { return condition().StringWidth(s) }

// Cut returns s if it fits into width columns. Otherwise it returns the start of s followed by mark, which fit
// together. It leaves out mark if mark alone would fill the width. It returns "" if width is 0 or less.
func Cut(s string, width int, mark string) string {
	if width <= 0 {
		return ""
	}
	if Width(mark) >= width {
		mark = ""
	}
	return condition().Truncate(s, width, mark)
}

// colour returns an expression for the escape sequences that [Palette.Paint] writes around a word.
var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

// Fold breaks text between words into lines of at most width columns. Every line after the first starts with
// indent. A word that is longer than a line stays whole: the terminal breaks the word, so that it can be copied.
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

// CutFront cuts s like [Cut], but keeps the end of s and puts mark at the front: the ends of names differ more
// often.
func CutFront(s string, width int, mark string) string {
	columns := Width(s)
	if columns <= width || width <= Width(mark) {
		return Cut(s, width, "")
	}
	return condition().TruncateLeft(s, columns-width+Width(mark), mark)
}
