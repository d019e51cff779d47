// Package table sets tables for people and for programs, from one description of
// their columns.
package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/pollcli/poll/internal/words"
)

// The formats of a table.
const (
	Text     = "table"
	CSV      = "csv"
	JSON     = "json"
	Markdown = "markdown"
)

// A Column says what it is called and what it shows of a row. Programs get its
// value under its name, and people its text under its heading; a column without a
// name is for people only, and one without a heading for programs.
type Column[R any] struct {
	Name  string
	Value func(R) any // a number, a text, or a pointer that is nil where there is none
	Head  string
	Text  func(R) string // nil: the value as programs get it
}

// A Table is rows of which the columns show something.
type Table[R any] struct {
	Columns []Column[R]
	Rows    []R
}

// In sets the table in a format.
func (t Table[R]) In(format string) (string, error) {
	switch format {
	case JSON:
		return t.json()
	case CSV:
		return t.forPrograms().csv(), nil
	case Markdown:
		return t.forPeople().markdown(), nil
	}
	return t.forPeople().String(), nil
}

func (t Table[R]) forPeople() Grid {
	return t.grid(func(c Column[R]) string { return c.Head }, func(c Column[R], row R) string {
		if c.Text != nil {
			return c.Text(row)
		}
		return plain(c.Value(row))
	})
}

func (t Table[R]) forPrograms() Grid {
	return t.grid(func(c Column[R]) string { return c.Name }, func(c Column[R], row R) string { return plain(c.Value(row)) })
}

// grid takes the cells of those columns that have a header.
func (t Table[R]) grid(header func(Column[R]) string, cell func(Column[R], R) string) Grid {
	var g Grid
	for _, c := range t.Columns {
		if header(c) != "" {
			g.Header = append(g.Header, header(c))
		}
	}
	for _, row := range t.Rows {
		var cells []string
		for _, c := range t.Columns {
			if header(c) != "" {
				cells = append(cells, cell(c, row))
			}
		}
		g.Add(cells...)
	}
	return g
}

// plain writes a value as CSV has it.
func plain(value any) string {
	switch v := value.(type) {
	case float64:
		return words.Number(v)
	case *float64:
		if v == nil {
			return ""
		}
		return words.Number(*v)
	}
	return fmt.Sprint(value)
}

// json is an array with a line for each row.
func (t Table[R]) json() (string, error) {
	if len(t.Rows) == 0 {
		return "[]\n", nil
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

// Object sets the only row of a table as JSON.
func (t Table[R]) Object() (string, error) {
	text, err := t.object(t.Rows[0])
	return text + "\n", err
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

// A Grid is a table of words.
type Grid struct {
	Header []string
	Rows   [][]string
}

// Add adds a row.
func (g *Grid) Add(cells ...string) { g.Rows = append(g.Rows, cells) }

// String sets the table for a terminal, every column flush right.
func (g Grid) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{g.Header}, g.Rows...) {
		fmt.Fprint(w, strings.Join(row, "\t")+"\t\n")
	}
	w.Flush() // a strings.Builder never fails
	return b.String()
}

// markdown sets the table as GitHub shows it.
func (g Grid) markdown() string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(g.Header)
	b.WriteString(strings.Repeat("|---:", len(g.Header)) + "|\n")
	for _, row := range g.Rows {
		line(row)
	}
	return b.String()
}

// csv sets the table by RFC 4180, but with single newlines.
func (g Grid) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(g.Header)
	w.WriteAll(g.Rows) // a strings.Builder never fails
	return b.String()
}
