package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/words"
)

// An output holds the flags that determine how a command prints its table and charts.
type output struct {
	format string // formatText, formatJSON, or "" for formatText
	svg    string // the name of the file for charts, or ""
}

// outputTable returns the flags whose values are stored in an output. charts is the help text of --svg.
func outputTable(charts string) argv.Flags {
	formats := []string{formatText, formatJSON}
	return argv.Flags{
		{Name: "format", Value: "F", Default: formatText, Words: formats, Set: argv.Text(func(o *output, v string) { o.format = v }), Usage: "table or json"},
		{Name: "svg", Value: "FILE", Set: argv.Text(func(o *output, v string) { o.svg = v }), Usage: charts},
	}
}

// check returns an error if poll cannot write the file that --svg names. Callers check before a long computation, so
// that its result is not lost.
func (o *output) check() error {
	if o.svg == "" {
		return nil
	}
	if err := system.CheckFile(o.svg); err != nil {
		return argv.Usagef("--svg: %w", err)
	}
	return nil
}

// The values of --format.
const (
	formatText = "table"
	formatJSON = "json"
)

// An answer is the result of a command, for people and for programs. It consists of a table and charts.
type answer struct {
	columns []column
	below   string // text below the table
	plots   []plot
}

// A column is a column of an answer's table.
type column struct {
	heading string // the heading for people; "" hides the column from people
	key     string // the key in JSON; "" hides the column from programs
	texts   []string
	values  []any
}

// columnOf returns a column with a cell for each row. cell returns the text for people and the value for programs.
func columnOf[T any](heading, key string, rows []T, cell func(T) (string, any)) column {
	c := column{heading: heading, key: key}
	for _, row := range rows {
		text, value := cell(row)
		c.texts, c.values = append(c.texts, text), append(c.values, value)
	}
	return c
}

// write prints the table in the format that o determines, and writes the charts to the file of --svg.
func (a answer) write(ctx context.Context, l *argv.Line, o *output) error {
	text := a.json()
	if o.format != formatJSON {
		text = a.table() + a.below
	}
	err := l.Write(ctx, text)
	if o.svg == "" {
		return err
	}
	if bad := system.WriteFile(o.svg, picture(a.plots...)); bad != nil {
		err = errors.Join(err, fmt.Errorf("write --svg %s: %w", o.svg, bad))
	}
	return err
}

// table returns the table as text: a line with the headings, and a line for each row.
func (a answer) table() string {
	lines := make([][]string, 1+len(a.columns[0].texts))
	for _, c := range a.columns {
		for i, text := range append([]string{c.heading}, c.texts...) {
			if c.heading != "" {
				lines[i] = append(lines[i], text)
			}
		}
	}
	return aligned(lines)
}

// json returns the table as a JSON array, with an object for each row. Each object is on a separate line.
func (a answer) json() string {
	objects := make([]string, len(a.columns[0].values))
	for _, c := range a.columns {
		for i, value := range c.values {
			if c.key != "" {
				text, _ := json.Marshal(value) // cannot fail: the value is a string, a finite number or nil
				objects[i] += fmt.Sprintf(",%q:%s", c.key, text)
			}
		}
	}
	if len(objects) == 0 {
		return "[]\n"
	}
	for i, members := range objects {
		objects[i] = "{" + members[1:] + "}"
	}
	return "[\n  " + strings.Join(objects, ",\n  ") + "\n]\n"
}

// aligned formats a table as text with right-aligned columns. Each element of lines holds the cells of a row.
func aligned(lines [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range lines {
		fmt.Fprint(w, strings.Join(cells, "\t")+"\t\n")
	}
	w.Flush()
	return b.String()
}

// asFlag formats a duration without rounding, as the value of a flag, such as "108h30m" or "10m".
func asFlag(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}

// secondsText formats a duration in seconds. It rounds durations of a millisecond or more to milliseconds.
func secondsText(d time.Duration) string {
	if d >= time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return words.Number(words.InSeconds(d))
}
