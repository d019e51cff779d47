// Package table formats tables for people and for programs, from one description of
// their columns.
package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/pollcli/poll/words"
)

// The formats of a table.
const (
	Text     = "table"
	CSV      = "csv"
	JSON     = "json"
	Markdown = "markdown"
)

// A Column has a name and a heading, and shows a value of each row. Programs get
// the value under the name, and people its text under the heading; a column without
// a name is for people only, and one without a heading for programs.
type Column[R any] struct {
	Name  string
	Value func(R) any // a number, a text, or a pointer that is nil if there is none
	Head  string
	Text  func(R) string // nil: the value as programs get it
}

// A Table is rows and the columns that show them.
type Table[R any] struct {
	Columns []Column[R]
	Rows    []R
	IsOne   bool // there is one row, which is an object in JSON
}

// In formats the table.
func (t Table[R]) In(format string) (string, error) {
	switch format {
	case JSON:
		return t.json()
	case CSV:
		return inCSV(t.cells(func(c Column[R]) string { return c.Name }, Column[R].plain)), nil
	case Markdown:
		return inMarkdown(t.forPeople()), nil
	}
	return t.String(), nil
}

// String formats the table for a terminal, with columns right-aligned.
func (t Table[R]) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range t.forPeople() {
		fmt.Fprint(w, strings.Join(cells, "\t")+"\t\n")
	}
	w.Flush() // a strings.Builder never fails
	return b.String()
}

func (t Table[R]) forPeople() [][]string {
	return t.cells(func(c Column[R]) string { return c.Head }, func(c Column[R], row R) string {
		if c.Text != nil {
			return c.Text(row)
		}
		return c.plain(row)
	})
}

// cells returns the headers and the rows, for the columns with a header.
func (t Table[R]) cells(header func(Column[R]) string, cell func(Column[R], R) string) [][]string {
	lines := make([][]string, 1+len(t.Rows))
	for _, c := range t.Columns {
		if header(c) == "" {
			continue
		}
		lines[0] = append(lines[0], header(c))
		for i, row := range t.Rows {
			lines[i+1] = append(lines[i+1], cell(c, row))
		}
	}
	return lines
}

// plain returns the value of a row for CSV.
func (c Column[R]) plain(row R) string {
	switch v := c.Value(row).(type) {
	case float64:
		return words.Number(v)
	case *float64:
		if v == nil {
			return ""
		}
		return words.Number(*v)
	default:
		return fmt.Sprint(v)
	}
}

// json returns an array with one line per row, or an object.
func (t Table[R]) json() (string, error) {
	if len(t.Rows) == 0 {
		return "[]\n", nil
	}
	if t.IsOne {
		text, err := t.object(t.Rows[0])
		return text + "\n", err
	}
	lines := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		object, err := t.object(row)
		if err != nil {
			return "", err
		}
		lines[i] = "  " + object
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n", nil
}

func (t Table[R]) object(row R) (string, error) {
	var members []string
	for _, c := range t.Columns {
		if c.Name == "" {
			continue
		}
		value, err := json.Marshal(c.Value(row))
		if err != nil {
			return "", fmt.Errorf("encode the result: %w", err)
		}
		members = append(members, fmt.Sprintf("%q:%s", c.Name, value))
	}
	return "{" + strings.Join(members, ",") + "}", nil
}

// inMarkdown formats cells in GitHub's Markdown.
func inMarkdown(lines [][]string) string {
	var b strings.Builder
	for i, cells := range lines {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---:", len(cells)) + "|\n")
		}
	}
	return b.String()
}

// inCSV formats cells according to RFC 4180, but with single newlines.
func inCSV(lines [][]string) string {
	var b strings.Builder
	csv.NewWriter(&b).WriteAll(lines) // a strings.Builder never fails
	return b.String()
}
