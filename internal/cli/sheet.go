package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

// The formats of a table.
const (
	formatTable    = "table"
	formatCSV      = "csv"
	formatJSON     = "json"
	formatMarkdown = "markdown"
)

// formatFlag is the flag that chooses among formats, of which the first is the
// default.
func formatFlag(formats ...string) flag {
	return flag{name: "format", value: "F", def: formats[0], words: formats, usage: "or " + strings.Join(formats[1:], ", ")}
}

// format reads the flag of that name.
func (in *invocation) format() string {
	f := in.self.flags.lookup("format")
	return in.values.word(f.name, f.def, f.words)
}

// A sheet is a table of words.
type sheet struct {
	header []string
	rows   [][]string
}

func (s *sheet) add(cells ...string) { s.rows = append(s.rows, cells) }

// text sets the table for a terminal, every column flush right.
func (s *sheet) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{s.header}, s.rows...) {
		fmt.Fprint(w, strings.Join(row, "\t")+"\t\n")
	}
	w.Flush() // a strings.Builder never fails
	return b.String()
}

// markdown sets the table as GitHub shows it.
func (s *sheet) markdown() string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(s.header)
	b.WriteString(strings.Repeat("|---:", len(s.header)) + "|\n")
	for _, row := range s.rows {
		line(row)
	}
	return b.String()
}

// csv sets the table by RFC 4180, but with single newlines.
func (s *sheet) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(s.header)
	w.WriteAll(s.rows) // a strings.Builder never fails
	return b.String()
}

// jsonList sets records as an array with a line for each.
func jsonList[T any](records []T) (string, error) {
	if len(records) == 0 {
		return "[]\n", nil
	}
	lines := make([]string, len(records))
	for i, r := range records {
		line, err := jsonLine(r)
		if err != nil {
			return "", err
		}
		lines[i] = "  " + strings.TrimSuffix(line, "\n")
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n", nil
}

// jsonLine sets a record as one line.
func jsonLine(record any) (string, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return "", fmt.Errorf("encode the result: %w", err)
	}
	return string(text) + "\n", nil
}

// takesNoOperand refuses operands of a command that has only flags.
func (in *invocation) takesNoOperand() error {
	if len(in.split.operands) == 0 {
		return nil
	}
	return surplus(in.split.operands, 0, in.self.name+" takes flags only").
		hint("poll %s --help lists them", in.self.name)
}
