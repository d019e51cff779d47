// Package chartfile writes the charts that flags name files for.
package chartfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/system"
)

// A File is a chart for the file that a flag names, if it is given.
type File struct {
	Flag string
	Draw func(io.Writer) error
}

// SVG returns the file of --svg, with some plots.
func SVG(plots ...chart.Plot) File {
	return File{"svg", func(w io.Writer) error { return chart.SVG(w, plots...) }}
}

// Check refuses files that cannot be written, before there is work to lose.
func Check(l *argv.Line, flags ...string) error {
	for _, flag := range flags {
		path := l.String(flag)
		switch {
		case path == "":
			continue
		case path == "-":
			return argv.Usagef("--%s needs the name of a file", flag)
		}
		if err := system.CheckFile(path); err != nil {
			return fmt.Errorf("write --%s %s: %w", flag, path, err)
		}
	}
	return nil
}

// Write writes those files that flags name.
func Write(l *argv.Line, files ...File) error {
	var errs []error
	for _, f := range files {
		if path := l.String(f.Flag); path != "" {
			if err := f.write(path); err != nil {
				errs = append(errs, fmt.Errorf("write --%s %s: %w", f.Flag, path, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (f File) write(path string) error {
	var b bytes.Buffer
	if err := f.Draw(&b); err != nil {
		return err
	}
	return system.WriteFile(path, b.Bytes())
}
