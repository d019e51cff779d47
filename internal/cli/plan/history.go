package plan

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
)

// HistoryCommand returns the command that shows what is remembered.
func HistoryCommand(s *term.Streams) *argv.Command {
	h := &history{streams: s}
	directory := h.Table().Only("history")
	directory[0].Needs = ""
	return &argv.Command{
		HasVariables: true,
		Operands:     "[NAME]",
		Summary:      "what --learn has remembered",
		Flags: append(directory,
			argv.Flag{Name: "forget", To: argv.BoolVar(&h.forget), Usage: "remove the history of NAME"}),
		Run: h.run,
	}
}

type history struct {
	Learning
	streams *term.Streams
	forget  bool
}

func (h *history) run(ctx context.Context, l *argv.Line) error {
	saved, err := h.store(l)
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
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // others may hold the history
	defer cancel()
	if err := saved.Forget(ctx, name); err != nil {
		return err
	}
	warn(h.streams, "the history of "+name+" is removed")
	return nil
}

// show writes a line for each of the histories.
func (h *history) show(ctx context.Context, l *argv.Line, saved store.History, names []string) error {
	lines := [][]string{{"name", "runs", "10% by", "half by", "90% by", "last run"}}
	for _, name := range names {
		p, err := read(saved, name, learn.Options{})
		switch {
		case err != nil && len(names) == 1:
			return err
		case err != nil:
			warn(h.streams, err.Error())
			continue
		}
		warn(h.streams, p.warnings...)
		last := "-"
		if n := len(p.runs); n > 0 {
			last = p.runs[n-1].End.UTC().Format("2006-01-02 15:04:05Z")
		}
		lines = append(lines, []string{term.Line(name), p.counts(), p.quantile(0.1), p.quantile(0.5), p.quantile(0.9), last})
	}
	return l.Write(ctx, aligned(lines))
}

// counts returns how many runs came to what: "4 success, 1 timeout".
func (p past) counts() string {
	number := map[store.Outcome]int{}
	for _, run := range p.runs {
		number[run.Outcome]++
	}
	return words.Counts(number, store.Success, store.Failure, store.Timeout, store.Interrupted)
}

// quantile returns how long the next run takes at most, with some chance.
func (p past) quantile(chance float64) string {
	if p.model == nil {
		return "-"
	}
	return words.Duration(p.model.Quantile(chance).Round(time.Millisecond))
}
