package prose

import (
	"strings"
	"unicode/utf8"
)

// The widths of text, in columns.
const (
	leastWidth = 40
	mostWidth  = 100 // longer lines are hard to read
	indent     = 2
)

// Text returns a page as text that fits into width columns; 0 means 80. Code is as it
// stands.
func Text(page string, width int) string {
	if width <= 0 {
		width = 80
	}
	p := printer{width: max(leastWidth, min(width, mostWidth))}
	for _, b := range parse(page) {
		p.block(b)
	}
	return p.String()
}

type printer struct {
	strings.Builder
	width int
	last  kind
}

func (p *printer) block(b block) {
	if p.Len() > 0 && !(b.kind == item && p.last == item) {
		p.WriteString("\n")
	}
	p.last = b.kind
	switch b.kind {
	case title:
		p.wrap(strings.ToUpper(plain(b.lines[0])), 0, 0)
	case heading:
		p.wrap(plain(b.lines[0]), 0, 0)
	case item:
		p.wrap("- "+plain(b.lines[0]), indent, indent+2)
	case code:
		for _, line := range b.lines {
			p.WriteString(strings.TrimRight(strings.Repeat(" ", 2*indent)+line, " ") + "\n")
		}
	case table:
		p.table(b.rows)
	default:
		p.wrap(plain(b.lines[0]), indent, indent)
	}
}

// plain returns a line without its markup.
func plain(line string) string {
	var b strings.Builder
	for _, s := range spans(line) {
		b.WriteString(s.text)
	}
	return b.String()
}

// wrap writes text whose first line is indented by first columns, and the others by rest.
func (p *printer) wrap(text string, first, rest int) {
	p.WriteString(strings.Repeat(" ", first))
	p.hang(text, first, rest)
}

// hang writes text from a column on, and its further lines indented by rest columns.
func (p *printer) hang(text string, column, rest int) {
	empty := true
	for word := range strings.FieldsSeq(text) {
		size := utf8.RuneCountInString(word)
		if !empty && column+1+size > p.width {
			p.WriteString("\n" + strings.Repeat(" ", rest))
			column, empty = rest, true
		}
		if !empty {
			p.WriteByte(' ')
			column++
		}
		p.WriteString(word)
		column, empty = column+size, false
	}
	p.WriteByte('\n')
}

// leastColumn is the room that the last column of a table needs at least.
const leastColumn = 20

// table writes the cells of each row in columns, or the last one below the others where
// these are too wide. A head without words is left out.
func (p *printer) table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i] = plain(row[i])
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	if len(rows) == 0 {
		return
	}
	left := indent
	for _, w := range widths[:len(widths)-1] {
		left += w + 2
	}
	for _, row := range rows {
		last := len(row) - 1
		switch {
		case strings.Join(row, "") == "":
		case strings.Join(row[1:], "") == "":
			p.WriteString(strings.Repeat(" ", indent) + row[0] + "\n")
		case left > p.width-leastColumn:
			p.wrap(strings.Join(row[:last], "  "), indent, indent)
			p.wrap(row[last], 3*indent, 3*indent)
		default:
			p.WriteString(strings.Repeat(" ", indent))
			column := indent
			for i, cell := range row[:last] {
				p.WriteString(cell + strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(cell)))
				column += widths[i] + 2
			}
			p.hang(row[last], column, column)
		}
	}
}
