package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/poll"
)

// readEntries returns the entries of the targets: one for a command, one for each different URL among the
// operands, or the entries of the --targets file.
func (r *Reader) readEntries(template *targets.Template) ([]*targets.Entry, error) {
	if r.run.Targets != "" {
		return r.readFile(template)
	}
	name := r.run.Name
	if r.Several { // the name belongs to the whole run
		name = ""
	}
	if r.run.IsCommand {
		return []*targets.Entry{{Name: name, Command: r.run.Operands}}, nil
	}
	var entries []*targets.Entry
	given := make(map[string]bool)
	for _, operand := range r.run.Operands {
		page := fmt.Sprint(connect.PageOf(operand))
		if given[page] {
			r.repeats++
			continue
		}
		given[page] = true
		entries = append(entries, &targets.Entry{Name: name, URL: operand})
	}
	return entries, nil
}

// readFile reads the --targets file, or stdin for "-". The entries fill template and the texts of r.
func (r *Reader) readFile(template *targets.Template) ([]*targets.Entry, error) {
	if r.run.Targets == "-" && r.process.Streams.InIsTerminal {
		return nil, argv.Usagef("%s - reads stdin, which is a terminal", r.run.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	if err := refuseStdinTwice(r.run.Line); err != nil {
		return nil, err
	}
	text, err := r.process.ReadFile(r.run.Targets, targets.MaxSize)
	if err != nil {
		return nil, argv.Usagef("%s: %w", r.run.Origin("targets"), err).Advise("open " + r.run.Targets)
	}
	r.file, err = targets.Read(text, targets.Config{Name: r.run.Targets, Template: template, Texts: r.texts, Keys: r.List != nil})
	if e, ok := errors.AsType[*targets.Error](err); ok {
		return nil, argv.Usagef("%w", e).Hint("%s", e.Hint)
	}
	r.repeats = r.file.Repeats
	return r.file.Entries, err
}

// readTemplate returns the URL or the command with placeholders for the entries of --targets. It returns nil
// if there is nothing to fill, and an error for several URLs or ambiguous fields.
func (r *Reader) readTemplate() (t *targets.Template, err error) {
	switch {
	case r.run.Targets == "" || len(r.run.Operands) == 0 || r.run.Each != "" && !r.run.hasPlaceholder():
		return nil, nil // with --each, the entries are keys of the answer
	case r.run.IsCommand:
		t, err = targets.ParseCommand(r.run.Operands)
	case len(r.run.Operands) > 1:
		return nil, argv.Usagef("%d URLs are given, but entries of %s fill one URL", len(r.run.Operands), r.run.Origin("targets")).
			Hint("put the URLs into the file, too")
	default:
		t, err = targets.ParseURL(r.run.Operands[0], r.texts != nil)
	}
	if err == nil && r.run.Each != "" {
		err = t.Batch(r.run.Batch)
	}
	fields := t.Fields()
	for _, text := range r.texts {
		fields = append(slices.Clip(fields), text.Fields()...)
	}
	for _, field := range fields {
		if f := r.run.Flags.Named(field); f != nil && !f.Hidden && !f.WholeRun {
			return nil, argv.Usagef("{.%[1]s} could be a field or the flag --%[1]s", field).Hint("call the field something else, in the URL and in the file")
		}
	}
	if e, ok := errors.AsType[*targets.Error](err); ok {
		wrong := argv.Usagef("%w", e).Advise("word "+r.run.Operands[0]).Hint("%s", e.Hint)
		if r.run.IsCommand && r.run.Dashes && !r.run.hasPlaceholder() {
			wrong.Hint("a program to run on SUCCESS: poll --targets %s ... && %s", r.run.Targets, ProgramName(r.run.Operands[0]))
		}
		return nil, wrong
	}
	return t, err
}

// withEntry returns the settings of the run, overridden by the settings of an entry. place is the prefix of
// each setting's origin in errors.
func (s *Run) withEntry(place string, settings []targets.Setting) (given argv.Settings, err error) {
	given = s.Settings
	for _, setting := range settings {
		f, origin := s.Flags.Named(setting.Flag), place+setting.Flag
		switch {
		case f == nil || f.Hidden:
			return given, argv.Usagef("%s: an entry cannot have this key", origin).
				Meant(strings.TrimLeft(setting.Flag, "-"), append(s.Flags.Shown(), "name", "url", "command")).
				Hint("an entry has a name, a url or a command, fields for {.field} of the URL, and flags such as until and timeout")
		case f.WholeRun:
			return given, argv.Usagef("%s: it applies to all targets", origin).Hint("give it on the command line: --%s", setting.Flag)
		case len(setting.Texts) > 1 && !f.Many:
			return given, argv.Usagef("%s: it has one value", origin)
		}
		for _, text := range setting.Texts {
			if given, err = given.With(f, text, origin, argv.Entry); err != nil {
				return given, err
			}
		}
	}
	return given, nil
}

// placeOf returns the place of a target as a prefix for errors: "FILE:LINE: ", or the URL among several URLs.
// It returns "" for a single target and with --each.
func (r *Reader) placeOf(e *targets.Entry) string {
	switch {
	case !r.Several || r.List != nil:
		return ""
	case r.file == nil:
		return poll.HTTP{URL: e.URL}.Target() + ": "
	}
	return fmt.Sprintf("%s:%d: ", r.file.Name, e.Line)
}
