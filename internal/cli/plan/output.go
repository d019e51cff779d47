package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/newfile"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
)

// formatFlag is the flag that chooses among formats, of which the first is the
// default.
func formatFlag(formats ...string) argv.Flag {
	return argv.Flag{Name: "format", Value: "F", Default: formats[0], Words: formats, Usage: "or " + strings.Join(formats[1:], ", ")}
}

// A chartFile is a file that a flag names, and what draws it.
type chartFile struct {
	flag string
	draw func(io.Writer) error
}

// checkFiles refuses files that cannot be written, before there is work that
// would be lost.
func checkFiles(l *argv.Line, files ...chartFile) error {
	for _, f := range files {
		path := l.String(f.flag)
		switch {
		case !l.Has(f.flag):
			continue
		case path == "" || path == "-":
			return argv.Usagef("--%s needs the name of a file", f.flag)
		}
		if err := newfile.Check(path); err != nil {
			return fmt.Errorf("write --%s %s: %w", f.flag, path, err)
		}
	}
	return nil
}

// An answer is a table that can be set in each of the formats.
type answer interface {
	In(format string) (string, error)
}

// put writes an answer in a format, and the files that are asked for. Below an
// answer for people stands what below returns.
func put(ctx context.Context, l *argv.Line, a answer, format string, below func() string, files ...chartFile) error {
	if err := checkFiles(l, files...); err != nil {
		return err
	}
	text, err := a.In(format)
	if err != nil {
		return err
	}
	if format == table.Text {
		text += below()
	}
	errs := []error{l.Write(ctx, text)}
	for _, f := range files {
		if !l.Has(f.flag) {
			continue
		}
		path := l.String(f.flag)
		if err := newfile.Write(path, f.draw); err != nil {
			errs = append(errs, fmt.Errorf("write --%s %s: %w", f.flag, path, err))
		}
	}
	return errors.Join(errs...)
}

// A meter is a line on a terminal that says how far long work is.
type meter struct {
	streams *term.Streams
	what    string
	since   time.Time
	visible bool
}

// meterPatience is how long work takes before it is worth a line.
const meterPatience = time.Second

func newMeter(s *term.Streams, what string) *meter {
	return &meter{streams: s, what: what, since: time.Now()}
}

// show redraws the line.
func (m *meter) show(done, total int) {
	s := m.streams
	if !s.ErrIsTerminal || s.Dumb || !s.Foreground() || time.Since(m.since) < meterPatience {
		return
	}
	fmt.Fprintf(s.Err, "\r%s: %d%% (%d of %d)", m.what, 100*done/total, done, total)
	m.visible = true
}

// clear takes the line away.
func (m *meter) clear() {
	if m.visible {
		fmt.Fprint(m.streams.Err, "\r\x1b[K")
	}
}
