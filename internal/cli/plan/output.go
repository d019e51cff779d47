package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/newfile"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
)

// formatFlag returns the flag that chooses among formats; the first is the default.
func formatFlag(formats ...string) argv.Flag {
	return argv.Flag{Name: "format", Value: "F", Default: formats[0], Words: formats, Usage: "or " + strings.Join(formats[1:], ", ")}
}

// checkFiles refuses chart files that cannot be written, before there is work to
// lose.
func checkFiles(l *argv.Line, flags ...string) error {
	for _, flag := range flags {
		path := l.String(flag)
		switch {
		case path == "":
			continue
		case path == "-":
			return argv.Usagef("--%s needs the name of a file", flag)
		}
		if err := newfile.Check(path); err != nil {
			return fmt.Errorf("write --%s %s: %w", flag, path, err)
		}
	}
	return nil
}

// An answer is the result of a command: a table, and charts.
type answer struct {
	table interface {
		In(format string) (string, error)
	}
	below  string // the table, for people
	charts []chartFile
}

// A chartFile is a chart for the file that a flag names.
type chartFile struct {
	flag string
	draw func(io.Writer) error
}

func chartFiles(p chart.Plot) []chartFile {
	return []chartFile{{"svg", func(w io.Writer) error { return chart.SVG(w, p) }}, {"png", p.PNG}}
}

// put writes an answer in a format, and its chart files.
func (a answer) put(ctx context.Context, l *argv.Line, format string) error {
	text, err := a.table.In(format)
	if err != nil {
		return err
	}
	if format == table.Text {
		text += a.below
	}
	errs := []error{l.Write(ctx, text)}
	for _, c := range a.charts {
		if path := l.String(c.flag); path != "" {
			if err := c.write(path); err != nil {
				errs = append(errs, fmt.Errorf("write --%s %s: %w", c.flag, path, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (c chartFile) write(path string) error {
	var b bytes.Buffer
	if err := c.draw(&b); err != nil {
		return err
	}
	return newfile.Write(path, b.Bytes())
}

// meterPatience is how long work may take without a progress line.
const meterPatience = time.Second

// newMeter returns show, which redraws a progress line on a terminal, and clear,
// which erases it.
func newMeter(s *term.Streams, what string) (show func(done, total int), clear func()) {
	since, visible := time.Now(), false
	show = func(done, total int) {
		if !s.ErrIsTerminal || s.Dumb || !s.Foreground() || time.Since(since) < meterPatience {
			return
		}
		fmt.Fprintf(s.Err, "\r%s: %d%% (%d of %d)", what, 100*done/total, done, total)
		visible = true
	}
	clear = func() {
		if visible {
			fmt.Fprint(s.Err, "\r\x1b[K")
		}
	}
	return show, clear
}
