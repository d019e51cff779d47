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
	// prefix starts each line of quoted text (a block). Because of the prefix, a line cannot be a GitHub Actions
	// command, which starts with "::", and cannot look like a line that poll has written.
	prefix = "| "
	tab    = "    "
	// maxLine is the maximum length in bytes of a line that Lines collects. Lines breaks a longer line into
	// several lines.
	maxLine = 4096
)

// Line returns s, an untrusted text, in a form that is safe to show as part of a line. A newline becomes \n,
// a tab becomes a space, and an invisible character becomes its number as in [Block]. White space at both ends is
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

// mayHarm reports whether [sanitize] might change r. As a fast first test, it also returns true for some characters
// that sanitize does not change.
func mayHarm(r rune) bool { return r < ' ' || r > '~' || r == '#' }

// Block returns s, an untrusted text, in a form that is safe to show as separate lines. Each line of the result
// starts with "| " and ends with a newline. If s is empty, the result is empty.
//
// A tab becomes four spaces, and a carriage return before a newline is removed. Other control characters, and
// bytes that are not UTF-8, become \xNN. Invisible format characters, which might reverse text, become \u{NNNN}.
// In "##[", which starts a command in CI services, the second # becomes \x23.
func Block(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		blockLine(&b, strings.TrimSuffix(line, "\n"))
	}
	return b.String()
}

// blockLine sanitizes line and writes it to b as one line of a block.
func blockLine(b *strings.Builder, line string) {
	b.WriteString(prefix)
	sanitize(b, strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", tab))
	b.WriteByte('\n')
}

// sanitize writes s, an untrusted text, to b in a form that is safe to show as part of a line.
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

// hidden reports whether r is invisible and may change how neighboring characters look. This applies to format
// characters (Unicode category Cf) and to line and paragraph separators. It does not apply to joiners, which are
// needed in emoji and in Indic and Persian words, or to format characters that are visible.
func hidden(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	if r < 0x80 || r == zwnj || r == zwj {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// beginsCommand reports whether s[i] is the second # of a CI command such as "##[", "##vso[" or "##teamcity[".
// GitHub and Azure recognize these commands even in the middle of a line, so the prefix "| " alone is not enough.
func beginsCommand(s string, i int) bool {
	if i == 0 || s[i-1] != '#' {
		return false
	}
	rest := strings.TrimLeft(s[i+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasPrefix(rest, "[")
}

// A Lines sanitizes text from outside as [Block] does, but line by line as the text arrives. The zero value is
// ready to use. Its methods must not be called concurrently.
type Lines struct {
	unfinished []byte
}

// Add appends p to the text, and returns the lines that are now complete.
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

// Rest returns the last line if it is incomplete, as if a newline followed. Otherwise it returns "".
func (l *Lines) Rest() string {
	text := Block(string(l.unfinished))
	l.unfinished = nil
	return text
}

// condition returns the rules for the width of characters. Unlike the default rules of the runewidth package, they
// do not depend on the locale: terminals show characters of ambiguous width as narrow.
func condition() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width returns how many columns s needs on a terminal. A wide character needs two columns, and a combining
// character needs no additional column. s must not contain escape sequences.
func Width(s string) int { return condition().StringWidth(s) }

// Cut returns s if it fits into width columns. Otherwise it returns the start of s followed by mark, together at
// most width columns wide. It omits mark if mark does not leave room for any text. It returns "" if width is 0 or
// less.
func Cut(s string, width int, mark string) string {
	if width <= 0 {
		return ""
	}
	if Width(mark) >= width {
		mark = ""
	}
	return condition().Truncate(s, width, mark)
}

// colour returns a regular expression that matches the escape sequences of [Palette.Paint].
var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

// Fold breaks text between words into lines of at most width columns. Each line after the first starts with
// indent. A word that is longer than a line is not broken: if the terminal wraps it, the user can still copy it as
// one word.
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

// CutFront shortens s like [Cut], but removes the start of s and puts mark in front. This suits names, because
// names usually differ at the end.
func CutFront(s string, width int, mark string) string {
	columns := Width(s)
	if columns <= width || width <= Width(mark) {
		return Cut(s, width, "")
	}
	return condition().TruncateLeft(s, columns-width+Width(mark), mark)
}
