package cli

import (
	"strings"

	"github.com/pollcli/poll/internal/argv"
)

// manSection returns a page of the documentation as a section of the manual page. A row of a
// table becomes a tagged paragraph. Other marks of Markdown stay as they are.
func manSection(page string) string {
	var b strings.Builder
	isCode := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			macro := ".EX\n"
			if isCode {
				macro = ".EE\n"
			}
			b.WriteString(macro)
			isCode = !isCode
		case strings.HasPrefix(line, "# "), strings.HasPrefix(line, "|---"), strings.HasSuffix(line, " | meaning |"):
		case strings.HasPrefix(line, "|"):
			tag, text, _ := strings.Cut(strings.Trim(line, "| "), " | ")
			b.WriteString(".TP\n\\fB" + argv.Roff(tag) + "\\fR\n" + argv.Roff(text) + "\n")
		case line == "":
			b.WriteString(".PP\n")
		default:
			b.WriteString(argv.Roff(line) + "\n")
		}
	}
	return b.String()
}
