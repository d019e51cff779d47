package plan

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
	formatText = "table"
	formatCSV  = "csv"
	formatJSON = "json"
)

// A table is rows for people and for programs, which have numbers from 0.
type table struct {
	rows    int
	isOne   bool // it has one row, which is an object in JSON
	columns []column
}

// A column has a name and a heading. Programs get its value of a row under the name, and people
// its text under the heading; a column without a name is for people only, and one without a
// heading for programs.
type column struct {
	name, head string
	value      func(row int) any    // a finite number, a text, or nil if there is none
	text       func(row int) string // nil: the value as programs get it
}

// in formats the table.
func (t table) in(format string) string {
	switch format {
	case formatJSON:
		return t.json()
	case formatCSV:
		var b strings.Builder
		csv.NewWriter(&b).WriteAll(t.cells(func(c column) string { return c.name }, column.plain)) // a Builder never fails
		return b.String()
	}
	return t.String()
}

// String formats the table for a terminal.
func (t table) String() string {
	return aligned(t.cells(func(c column) string { return c.head }, column.forPeople))
}

// aligned returns lines of cells in columns, which are right-aligned.
func aligned(lines [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range lines {
		fmt.Fprint(w, strings.Join(cells, "\t")+"\t\n")
	}
	w.Flush()
	return b.String()
}

// cells returns the headers and the rows, for the columns with a header.
func (t table) cells(header func(column) string, cell func(column, int) string) [][]string {
	lines := make([][]string, 1+t.rows)
	for _, c := range t.columns {
		if header(c) == "" {
			continue
		}
		lines[0] = append(lines[0], header(c))
		for i := range t.rows {
			lines[i+1] = append(lines[i+1], cell(c, i))
		}
	}
	return lines
}

// plain returns the value of a row for CSV.
func (c column) plain(row int) string {
	switch v := c.value(row).(type) {
	case nil:
		return ""
	case float64:
		return words.Number(v)
	default:
		return fmt.Sprint(v)
	}
}

func (c column) forPeople(row int) string {
	if c.text != nil {
		return c.text(row)
	}
	return c.plain(row)
}

// json returns an array with one line per row, or an object.
func (t table) json() string {
	lines := make([]string, t.rows)
	for i := range lines {
		var members []string
		for _, c := range t.columns {
			if c.name != "" {
				value, _ := json.Marshal(c.value(i))
				members = append(members, fmt.Sprintf("%q:%s", c.name, value))
			}
		}
		lines[i] = "{" + strings.Join(members, ",") + "}"
	}
	switch {
	case t.isOne:
		return lines[0] + "\n"
	case len(lines) == 0:
		return "[]\n"
	}
	return "[\n  " + strings.Join(lines, ",\n  ") + "\n]\n"
}
