package plan

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/words"
)

// An output is where a command's table and charts go.
type output struct {
	streams *term.Streams
	format  string // "" for text
	svg     string // a file, "" for none
}

// flags returns the flags that fill o. charts says what --svg writes.
func (o *output) flags(charts string) argv.Flags {
	formats := []string{formatText, formatCSV, formatJSON}
	return argv.Flags{
		{Name: "format", Value: "F", Default: formatText, Words: formats, To: argv.Text(&o.format), Usage: "or csv, json"},
		{Name: "svg", Value: "FILE", To: argv.To(&o.svg, parseSVG), Usage: charts},
	}
}

// parseSVG refuses the name of a file that cannot be written, before there is work to lose.
func parseSVG(path string) (string, error) {
	if ext := strings.ToLower(filepath.Ext(path)); path == "-" || ext == ".png" || ext == ".pdf" {
		return "", argv.Usagef("%s: charts are written as SVG, so the name ends in .svg", path).
			Hint("rsvg-convert FILE.svg >FILE.png makes another picture of it")
	}
	if err := system.CheckFile(path); err != nil {
		return "", argv.Usagef("%s: %w", path, err)
	}
	return path, nil
}

// An answer is the result of a command: a table, and charts.
type answer struct {
	table table
	below string // the table, for people
	plots []plot.Plot
}

// put writes the answer.
func (a answer) put(ctx context.Context, l *argv.Line, o *output) error {
	text := a.table.in(o.format)
	if o.format == "" || o.format == formatText {
		text += a.below + plot.Screen(o.streams, a.plots...)
	}
	err := l.Write(ctx, text)
	if o.svg == "" {
		return err
	}
	if bad := system.WriteFile(o.svg, plot.SVG(a.plots...)); bad != nil {
		err = errors.Join(err, fmt.Errorf("write --svg %s: %w", o.svg, bad))
	}
	return err
}

// asFlag formats a duration exactly, as flags take it: "108h30m", "10m".
func asFlag(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// secondsText formats a duration as a number of seconds, to the millisecond unless it
// is shorter than that.
func secondsText(d time.Duration) string {
	if d >= time.Millisecond && d < math.MaxInt64-time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return words.Number(words.InSeconds(d))
}

// withSeconds formats a duration for people and, unless that is in seconds already,
// adds the number of seconds: "10m (600s)".
func withSeconds(d time.Duration) string {
	people, number := words.Duration(d), secondsText(d)+"s"
	if people == number || d == math.MaxInt64 {
		return people
	}
	return people + " (" + number + ")"
}

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
