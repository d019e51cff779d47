// Package plan is about waits before they begin: their timetable (poll schedule), a factor
// for a goal (poll tune), and what many pollers do to one service (poll simulate).
package plan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
)

// DefaultTimeout is the default of --timeout. It keeps a CI job from hanging.
const DefaultTimeout = 10 * time.Minute

// An output is where a command's table and charts go.
type output struct {
	streams *term.Streams
	format  string // "" for text
	svg     string // a file, "" for none
}

// flags returns the flags that fill o. charts says what --svg writes.
func (o *output) flags(charts string, others ...string) argv.Flags {
	formats := append([]string{table.Text}, others...)
	return argv.Flags{
		{Name: "format", Value: "F", Default: table.Text, Words: formats, To: argv.Text(&o.format), Usage: "or " + strings.Join(others, ", ")},
		{Name: "svg", Value: "FILE", To: argv.To(&o.svg, parseSVG), Usage: charts},
		argv.HelpFlag(),
	}
}

func parseSVG(path string) (string, error) {
	if path == "-" || slices.Contains([]string{".png", ".pdf"}, strings.ToLower(filepath.Ext(path))) {
		return "", argv.Usagef("%s: charts are written as SVG, so the name ends in .svg", path).
			Hint("rsvg-convert FILE.svg >FILE.png makes another picture of it")
	}
	return path, nil
}

// check refuses a file for charts that cannot be written, before there is work to lose.
func (o *output) check() error {
	if o.svg == "" {
		return nil
	}
	return o.unwritable(system.CheckFile(o.svg))
}

func (o *output) unwritable(err error) error {
	if err != nil {
		return fmt.Errorf("write --svg %s: %w", o.svg, err)
	}
	return nil
}

// An answer is the result of a command: a table, and charts.
type answer struct {
	table interface {
		In(format string) (string, error)
	}
	below string // the table, for people
	plots []plot.Plot
}

// put writes the answer, unless err says why there is none.
func (a answer) put(ctx context.Context, l *argv.Line, o *output, err error) error {
	if err != nil {
		return err
	}
	text, err := a.table.In(o.format)
	if err != nil {
		return err
	}
	if o.format == "" || o.format == table.Text {
		text += a.below + plot.Screen(o.streams, a.plots...)
	}
	err = l.Write(ctx, text)
	if o.svg != "" {
		err = errors.Join(err, o.unwritable(system.WriteFile(o.svg, plot.SVG(a.plots...))))
	}
	return err
}
