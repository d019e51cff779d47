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
	var b strings.Builder
	switch format {
	case JSON:
		return t.json()
	case CSV: // RFC 4180, but with single newlines
		csv.NewWriter(&b).WriteAll(t.cells(false)) // a strings.Builder never fails
	case Markdown:
		for i, cells := range t.cells(true) {
			b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
			if i == 0 {
				b.WriteString(strings.Repeat("|---:", len(cells)) + "|\n")
			}
		}
	default:
		return t.String(), nil
	}
	return b.String(), nil
}

// String formats the table for a terminal, with columns right-aligned.
func (t Table[R]) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range t.cells(true) {
		fmt.Fprint(w, strings.Join(cells, "\t")+"\t\n")
	}
	w.Flush() // a strings.Builder never fails
	return b.String()
}

// cells returns the header and the rows, of the columns that people or programs get.
func (t Table[R]) cells(forPeople bool) [][]string {
	lines := make([][]string, 1+len(t.Rows))
	for _, c := range t.Columns {
		header := c.Name
		if forPeople {
			header = c.Head
		}
		if header == "" {
			continue
		}
		lines[0] = append(lines[0], header)
		for i, row := range t.Rows {
			lines[i+1] = append(lines[i+1], c.cell(row, forPeople))
		}
	}
	return lines
}

// cell returns the value of a row as text.
func (c Column[R]) cell(row R, forPeople bool) string {
	if forPeople && c.Text != nil {
		return c.Text(row)
	}
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
	var lines []string
	for _, row := range t.Rows {
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
		lines = append(lines, "{"+strings.Join(members, ",")+"}")
	}
	switch {
	case len(lines) == 0:
		return "[]\n", nil
	case t.IsOne:
		return lines[0] + "\n", nil
	}
	return "[\n  " + strings.Join(lines, ",\n  ") + "\n]\n", nil
}
