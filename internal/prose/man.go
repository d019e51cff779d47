package prose

import "strings"

// Man returns a page as the body of a section of a manual page, in the macros of man(7),
// without its title: a row of a table is a tagged paragraph, and its head is left out.
// escape escapes text for roff.
func Man(page string, escape func(string) string) string {
	var b strings.Builder
	marked := func(line string) string {
		var b strings.Builder
		for _, s := range spans(line) {
			if s.code {
				b.WriteString(`\fB` + escape(s.text) + `\fR`)
			} else {
				b.WriteString(escape(s.text))
			}
		}
		return b.String()
	}
	for _, block := range parse(page) {
		switch block.kind {
		case title:
		case heading:
			b.WriteString(".SS " + marked(block.lines[0]) + "\n")
		case item:
			b.WriteString(".IP \\(bu 2\n" + marked(block.lines[0]) + "\n")
		case code:
			b.WriteString(".PP\n.in +4n\n.EX\n" + escape(strings.Join(block.lines, "\n")) + "\n.EE\n.in\n")
		case table:
			for _, row := range block.rows[min(1, len(block.rows)):] {
				last := len(row) - 1
				b.WriteString(".TP\n\\fB" + marked(strings.Join(row[:last], ", ")) + "\\fR\n" + marked(row[last]) + "\n")
			}
		default:
			b.WriteString(".PP\n" + marked(block.lines[0]) + "\n")
		}
	}
	return strings.TrimPrefix(b.String(), ".PP\n")
}
