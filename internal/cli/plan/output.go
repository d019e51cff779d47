package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/chartfile"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
)

// formatFlag returns the flag that chooses among formats; the first is the default.
func formatFlag(formats ...string) argv.Flag {
	return argv.Flag{Name: "format", Value: "F", Default: formats[0], Words: formats, Usage: "or " + strings.Join(formats[1:], ", ")}
}

// An answer is the result of a command: a table, and charts.
type answer struct {
	table interface {
		In(format string) (string, error)
	}
	below  string // the table, for people
	charts []chartfile.File
}

func chartFiles(p chart.Plot) []chartfile.File {
	return []chartfile.File{chartfile.SVG(p), {Flag: "png", Draw: p.PNG}}
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
	return errors.Join(l.Write(ctx, text), chartfile.Write(l, a.charts...))
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
