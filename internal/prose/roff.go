package prose

import "strings"

// Roff returns a manual page, in the macros of man(7) that [Man] and the table of flags
// make, as text of some width, for terminals without man(1).
func Roff(page string, width int) string {
	if width <= 0 {
		width = 80
	}
	r := roffPrinter{printer: printer{width: max(leastWidth, min(width, mostWidth))}, indent: sectionIndent}
	for line := range strings.Lines(page) {
		r.line(strings.TrimRight(line, "\n"))
	}
	r.flush()
	return r.String()
}

const (
	sectionIndent = 4
	taggedIndent  = 10
)

type roffPrinter struct {
	printer
	words    []string // of the paragraph so far
	indent   int      // of it
	tagged   bool     // the next line is the tag of a paragraph
	verbatim bool
}

// line takes a line of the source.
func (r *roffPrinter) line(line string) {
	macro, rest, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(line, ".") {
		macro, rest = "", line
	}
	text := unroff(rest)
	switch macro {
	case ".SH", ".SS":
		r.flush()
		r.indent = sectionIndent
		r.gap()
		column := 0
		if macro == ".SS" {
			column = indent
		}
		r.wrap(text, column, column)
	case ".PP", ".YS":
		r.flush()
		r.gap()
		r.indent = sectionIndent
	case ".TP":
		r.flush()
		r.gap()
		r.tagged = true
	case ".IP":
		r.flush()
		tag, _, _ := strings.Cut(text, " ")
		r.wrap(tag, sectionIndent, sectionIndent)
		r.indent = taggedIndent
	case ".EX", ".EE":
		r.flush()
		r.verbatim = macro == ".EX"
	case ".B", ".I", ".SY", "":
		r.text(text)
	case ".BR", ".RB", ".IR", ".RI", ".BI":
		r.text(joined(text))
	}
}

// text adds to the paragraph, or writes a line that stands for itself.
func (r *roffPrinter) text(text string) {
	switch {
	case r.verbatim:
		r.WriteString(strings.TrimRight(strings.Repeat(" ", 2*sectionIndent)+text, " ") + "\n")
	case r.tagged:
		r.wrap(text, sectionIndent, taggedIndent)
		r.tagged, r.indent = false, taggedIndent
	default:
		r.words = append(r.words, text)
	}
}

// gap leaves a line empty, but not two.
func (r *roffPrinter) gap() {
	if r.Len() > 0 && !strings.HasSuffix(r.String(), "\n\n") {
		r.WriteString("\n")
	}
}

// flush writes the paragraph.
func (r *roffPrinter) flush() {
	if len(r.words) > 0 {
		r.wrap(strings.Join(r.words, " "), r.indent, r.indent)
	}
	r.words = nil
}

// joined joins the arguments of a macro that alternates fonts; blanks within quotes stay.
func joined(args string) string {
	var b strings.Builder
	quoted := false
	for _, c := range args {
		switch {
		case c == '"':
			quoted = !quoted
		case c != ' ' || quoted:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// unroff undoes the escapes of roff.
func unroff(text string) string {
	return strings.NewReplacer(
		`\fB`, "", `\fI`, "", `\fR`, "", `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(dq`, `"`,
		`\(bu`, "-", `\&`, "", `\|`, "", `\e`, `\`,
	).Replace(text)
}
