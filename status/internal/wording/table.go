package wording

import (
	"regexp"
	"strings"
)

// A Table is a table of hints: what people write who know another language, and what to write
// instead.
type Table []hint

type hint struct {
	about         string
	pattern       *regexp.Regexp
	message, hint string
}

// ParseTable reads a table. A line is a row of cells with :: between them: what it is about, a
// pattern for what was written, what is wrong with that, and what to write. In the last two $0 and
// $1 stand for what the pattern matches, $_ for the whole text, and $$ for a dollar sign. Lines
// that begin with # are comments. It panics if a pattern is malformed.
func ParseTable(text string) (t Table) {
	for line := range strings.Lines(text) {
		cells := append(strings.Split(line, "::"), "", "")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(line, "#") && cells[1] != "" {
			t = append(t, hint{cells[0], regexp.MustCompile(cells[1]), cells[2], cells[3]})
		}
	}
	return t
}

// Find returns what the first row says that is about something and matches a text.
func (t Table) Find(about, text string) (message, hint string, found bool) {
	for _, row := range t {
		if row.about != about {
			continue
		}
		if m := row.pattern.FindStringSubmatchIndex(text); m != nil {
			expand := func(words string) string {
				words = string(row.pattern.ExpandString(nil, strings.ReplaceAll(words, "$_", "\x00"), text, m))
				return strings.ReplaceAll(words, "\x00", text)
			}
			return expand(row.message), expand(row.hint), true
		}
	}
	return "", "", false
}
