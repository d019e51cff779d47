package cli

import (
	"errors"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/targets"
)

// readFile reads the targets file, with what its entries fill.
func (r *reader) readFile(template *targets.Template) ([]*targets.Entry, error) {
	if r.Targets == "-" && r.world.Streams.InIsTerminal {
		return nil, argv.Usagef("%s - reads stdin, which is a terminal", r.Origin("targets")).
			Hint("kubectl get jobs -o name | poll --targets - ...")
	}
	if err := refuseStdinTwice(r.Line); err != nil {
		return nil, err
	}
	text, err := r.world.readFile(r.Targets, targets.MaxSize)
	if err != nil {
		return nil, argv.Usagef("%s: %w", r.Origin("targets"), err)
	}
	r.file, err = targets.Read(text, targets.Config{Name: r.Targets, Template: template, Keys: r.list != nil})
	if e, ok := errors.AsType[*targets.Error](err); ok {
		return nil, argv.Usagef("%w", e).Hint("%s", e.Hint)
	}
	return r.file.Entries, err
}

// readTemplate reads the URL or the command that entries fill, nil if there is none.
func (r *reader) readTemplate() (t *targets.Template, err error) {
	switch {
	case r.Each != "" && !r.hasPlaceholder():
		return nil, nil // the entries are keys of the answer
	case r.IsCommand:
		t, err = targets.ParseCommand(r.Operands)
	case len(r.Operands) == 0:
		return nil, nil
	case len(r.Operands) > 1:
		return nil, argv.Usagef("%d URLs are given, and with %s one is filled by its entries", len(r.Operands), r.Origin("targets")).
			Hint("put the URLs into the file, too")
	default:
		t, err = targets.ParseURL(r.Operands[0])
	}
	if err == nil && r.Each != "" {
		err = t.Batch(r.Batch)
	}
	for _, field := range t.Fields() {
		if f := r.Flag(field); f != nil && !f.Hidden && !f.WholeRun {
			return nil, argv.Usagef("{.%[1]s} could be a field or the flag --%[1]s", field).Hint("call the field something else, in the URL and in the file")
		}
	}
	if e, ok := errors.AsType[*targets.TemplateError](err); ok {
		wrong := argv.Usagef("%s", e.Message).Hint("%s", e.Hint)
		if r.IsCommand && r.Dashes && !r.hasPlaceholder() {
			wrong.Hint("a program to run then: poll --targets %s ... && %s", r.Targets, programName(r.Operands[0]))
		}
		return nil, wrong
	}
	return t, err
}

// targetsFile returns what the file of --targets is called.
func (s *Spec) targetsFile() string {
	if s.Targets == "-" {
		return "stdin"
	}
	return s.Targets
}
