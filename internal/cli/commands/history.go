package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
)

// recall returns the model that is learned from the past runs that --learn names, or nil without --learn. If no
// past runs exist, the result depends on the origin of the name. For a name on the command line, recall returns a
// usage error. For a name from an environment variable, it returns nil: the command then continues without a model,
// as a wait would.
func recall(f learn.Flags, l *argv.Line, s *term.Streams, w read.Waits) (*fit.Model, error) {
	if f.Learn == "" {
		return nil, nil
	}
	saved, err := f.Store(l)
	if err != nil {
		return nil, err
	}
	past, err := saved.Fit(f.Learn, w.LearnOptions(f))
	if err != nil {
		return nil, err
	}
	warn(s, past.Warnings...)
	if past.Model == nil && l.Rank("learn") == argv.Typed {
		return nil, unknown(saved, f.Learn)
	}
	return past.Model, nil
}

func warn(s *term.Streams, notes ...string) {
	for _, note := range notes {
		fmt.Fprintf(s.Err, "poll: %s\n", term.Line(note))
	}
}

// unknown returns the usage error for a history that does not exist. Its hint suggests the most similar name.
func unknown(saved learn.History, name string) error {
	names, _ := saved.List()
	return argv.Usagef("there is no history of %q in %s", name, saved.Dir).Meant(name, names)
}

// History returns the command that shows or removes the past runs that --learn uses.
func History(s *term.Streams) *argv.Command {
	h := &history{streams: s}
	directory := learn.Table().Only("history")
	directory[0].Needs = ""
	return &argv.Command{
		HasVariables: true,
		Operands:     "[NAME]",
		Summary:      "what --learn has remembered",
		Flags: append(directory,
			argv.Flag{Name: "forget", Set: argv.Switch(func(h *history, on bool) { h.forget = on }), Usage: "remove the history of NAME"}),
		Into: []any{h, &h.Flags},
		Run:  h.run,
	}
}

type history struct {
	learn.Flags
	streams *term.Streams
	forget  bool
}

func (h *history) run(ctx context.Context, l *argv.Line) error {
	saved, err := h.Store(l)
	if err != nil {
		return err
	}
	names, err := saved.List()
	name := strings.Join(l.Operands, "")
	switch {
	case err != nil:
		return err
	case name == "" && h.forget:
		return argv.Usagef("--forget needs the NAME of a history")
	case name == "" && len(names) == 0:
		warn(h.streams, "there are no past runs in "+saved.Dir)
		return nil
	case name == "":
		return h.show(ctx, l, saved, names)
	case !slices.Contains(names, name):
		return unknown(saved, name)
	case !h.forget:
		return h.show(ctx, l, saved, l.Operands)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // another process may have locked the history
	defer cancel()
	if err := saved.Forget(ctx, name); err != nil {
		return err
	}
	warn(h.streams, "the history of "+name+" is removed")
	return nil
}

// show prints a table with a line for each history in names.
func (h *history) show(ctx context.Context, l *argv.Line, saved learn.History, names []string) error {
	lines := [][]string{{"name", "runs", "10% by", "half by", "90% by", "last run"}}
	for _, name := range names {
		p, err := saved.Fit(name, fit.Options{})
		switch {
		case err != nil && len(names) == 1:
			return err
		case err != nil:
			warn(h.streams, err.Error())
			continue
		}
		warn(h.streams, p.Warnings...)
		last := "-"
		if n := len(p.Runs); n > 0 {
			last = p.Runs[n-1].End.UTC().Format("2006-01-02 15:04:05Z")
		}
		lines = append(lines, []string{term.Line(name), counts(p), quantile(p, 0.1), quantile(p, 0.5), quantile(p, 0.9), last})
	}
	return l.Write(ctx, aligned(lines))
}

// counts returns the number of past runs for each outcome, such as "4 success, 1 timeout".
func counts(p learn.Past) string {
	number := map[learn.Outcome]int{}
	for _, run := range p.Runs {
		number[run.Outcome]++
	}
	return words.Counts(number, learn.Success, learn.Failure, learn.Timeout, learn.Interrupted)
}

// quantile returns the time within which the next run ends with the probability chance. It returns "-" without a
// model.
func quantile(p learn.Past, chance float64) string {
	if p.Model == nil {
		return "-"
	}
	return words.Duration(p.Model.Quantile(chance).Round(time.Millisecond))
}
