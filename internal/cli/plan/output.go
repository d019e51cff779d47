package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
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
