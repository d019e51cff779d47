// Package prose shows pages that are written in a plain form of Markdown: as text of some
// width, and as the body of a section in a manual page.
//
// It knows headings, paragraphs, lists of one level, tables, fenced blocks, and within a
// line code, bold text and links. A picture is left out, and so is a list that only links
// to sections of the page.
package prose

import "strings"

// A block is a piece of a page.
type block struct {
	kind  kind
	lines []string // of code; otherwise one, with its markup
	rows  [][]string
}

type kind uint8

const (
	paragraph kind = iota
	title
	heading
	item
	table
	code
)

// codeIndent is what lines of code begin with that no fence is around.
const codeIndent = "    "

// parse splits a page into its blocks.
func parse(page string) []block {
	var blocks []block
	joins := false // the next line continues the last block
	fenced, indented := false, false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		goesOn := indented
		indented = !fenced && !joins && strings.HasPrefix(line, codeIndent)
		switch {
		case strings.HasPrefix(text, "```"):
			if fenced = !fenced; fenced {
				blocks = append(blocks, block{kind: code})
			}
			joins = false
		case fenced:
			last := &blocks[len(blocks)-1]
			last.lines = append(last.lines, line)
		case indented:
			if !goesOn {
				blocks = append(blocks, block{kind: code})
			}
			last := &blocks[len(blocks)-1]
			last.lines = append(last.lines, strings.TrimPrefix(line, codeIndent))
		case text == "", strings.HasPrefix(text, "!["), strings.HasPrefix(text, "- [") && strings.Contains(text, "](#"):
			joins = false
		case strings.HasPrefix(text, "|"):
			row := cells(text)
			if !joins || blocks[len(blocks)-1].kind != table {
				blocks = append(blocks, block{kind: table})
			}
			// Not the line below the head.
			if last := &blocks[len(blocks)-1]; strings.Trim(text, "|-: ") != "" || strings.Trim(text, "| ") == "" {
				last.rows = append(last.rows, row)
			}
			joins = true
		default:
			kind, text := kindOf(text)
			if kind == paragraph && joins && blocks[len(blocks)-1].kind != table {
				last := &blocks[len(blocks)-1]
				last.lines[0] += " " + text
				continue
			}
			blocks = append(blocks, block{kind: kind, lines: []string{text}})
			joins = kind == paragraph || kind == item
		}
	}
	return blocks
}

func kindOf(line string) (kind, string) {
	for _, mark := range []struct {
		text string
		kind kind
	}{{"# ", title}, {"## ", heading}, {"### ", heading}, {"- ", item}} {
		if text, ok := strings.CutPrefix(line, mark.text); ok {
			return mark.kind, text
		}
	}
	return paragraph, line
}

// cells splits a row of a table. A bar behind a backslash is one of the text.
func cells(row string) []string {
	const bar = "\x00"
	row = strings.ReplaceAll(strings.Trim(row, "|"), `\|`, bar)
	var list []string
	for cell := range strings.SplitSeq(row, "|") {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(cell, bar, "|")))
	}
	return list
}

// A span is a piece of a line.
type span struct {
	text string
	code bool
}

// spans splits a line into code and other text, without the marks of bold text and links.
func spans(line string) []span {
	var list []span
	for i, text := range strings.Split(withoutLinks(line), "`") {
		if i%2 == 0 {
			text = strings.ReplaceAll(text, "**", "")
		}
		list = append(list, span{text, i%2 == 1})
	}
	return list
}

// withoutLinks returns a line with the text of each link in its place.
func withoutLinks(line string) string {
	var b strings.Builder
	open, inCode := "", false // what comes before a [ that is not in code
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '`':
			inCode = !inCode
		case inCode:
		case c == '[' && open == "":
			open = b.String() + "["
		case strings.HasPrefix(line[i:], "](") && open != "":
			if end := strings.IndexByte(line[i:], ')'); end > 0 {
				text := b.String()[len(open):]
				b.Reset()
				b.WriteString(open[:len(open)-1] + text)
				open, i = "", i+end
				continue
			}
		}
		b.WriteByte(line[i])
	}
	return b.String()
}
