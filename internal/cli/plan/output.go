package plan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
)

// formatFlag returns the flag that chooses among formats; the first is the default.
func formatFlag(formats ...string) argv.Flag {
	return argv.Flag{Name: "format", Value: "F", Default: formats[0], Words: formats, Usage: "or " + strings.Join(formats[1:], ", ")}
}

// An answer is the result of a command: a table, and charts.
type answer[R any] struct {
	table table.Table[R]
	isOne bool   // the table has one row, which is an object in JSON
	below string // the table, for people
	plots []plot.Plot
}

// put writes the answer in the format of --format, and the charts to the file of --svg, unless
// err says why there is none.
func (a answer[R]) put(ctx context.Context, l *argv.Line, s *term.Streams, err error) error {
	if err != nil {
		return err
	}
	format := l.Choice("format")
	text, err := a.table.In(format)
	if format == table.JSON && a.isOne {
		text, err = a.table.Object()
	}
	if err != nil {
		return err
	}
	if format == table.Text {
		text += a.below + plot.Screen(s, a.plots...)
	}
	err = l.Write(ctx, text)
	if path := l.String("svg"); path != "" {
		err = errors.Join(err, unwritable(path, system.WriteFile(path, plot.SVG(a.plots...))))
	}
	return err
}

func unwritable(path string, err error) error {
	if err != nil {
		return fmt.Errorf("write --svg %s: %w", path, err)
	}
	return nil
}

// checkOutput refuses a format, or a file for charts, that cannot be, before there is work to
// lose.
func checkOutput(l *argv.Line) error {
	l.Choice("format")
	path := l.String("svg")
	switch ext := filepath.Ext(path); {
	case l.Err() != nil || path == "":
		return l.Err()
	case path == "-":
		return argv.Usagef("--svg needs the name of a file")
	case strings.EqualFold(ext, ".png"), strings.EqualFold(ext, ".pdf"):
		return argv.Usagef("--svg %s: charts are written as SVG, so the name ends in .svg", path).
			Hint("rsvg-convert FILE.svg >FILE%s makes another picture of it", ext)
	}
	return unwritable(path, system.CheckFile(path))
}
