package learning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/words"
)

// HistoryCommand returns the command that shows what is remembered.
func HistoryCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:         "history",
		HasVariables: true,
		Operands:     "[NAME]",
		Summary:      "what --learn has remembered",
		About: "poll history lists what poll --learn has remembered; with a NAME it shows how\n" +
			"long the runs of that operation took, and how long the next may take.",
		Examples: []argv.Example{
			{Line: "poll history"},
			{Line: "poll history deploy"},
			{Line: "poll history deploy --forget", About: "the next run starts over"},
		},
		Flags: append(Flags("").Only("history"),
			argv.Flag{Name: "forget", Usage: "remove the history of NAME"},
			argv.HelpFlag()),
		MaxOperands: 1,
		Surplus:     "takes one NAME",
		Run: func(ctx context.Context, l *argv.Line) error {
			store, err := readStore(l)
			switch {
			case err != nil:
				return err
			case len(l.Operands) == 0 && l.On("forget"):
				return argv.Usagef("--forget needs the NAME of a history")
			case len(l.Operands) == 0:
				return list(ctx, l, s, store)
			}
			name := l.Operands[0]
			if err := history.CheckName(name); err != nil {
				return argv.Usagef("%w", err)
			}
			if l.On("forget") {
				return forget(ctx, s, store, name)
			}
			return show(ctx, l, s, store, name)
		},
	}
}

func list(ctx context.Context, l *argv.Line, s *term.Streams, store history.Store) error {
	names, err := store.List()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		remark(s, "nothing is remembered in "+store.Dir)
		return nil
	}
	var all []past
	for _, name := range names {
		p, err := read(store, name, learn.Options{})
		if err != nil {
			p.warnings = append(p.warnings, err.Error())
		} else {
			all = append(all, p)
		}
		remark(s, p.warnings...)
	}
	column := func(head string, text func(past) string) table.Column[past] {
		return table.Column[past]{Head: head, Text: text}
	}
	return l.Write(ctx, table.Table[past]{Rows: all, Columns: []table.Column[past]{
		column("name", func(p past) string { return term.Line(p.name) }),
		column("runs", func(p past) string { return strconv.Itoa(p.count(history.Success) + p.count(history.Failure)) }),
		column("median", func(p past) string { return p.quantile(50) }),
		column("last run", past.last),
	}}.String())
}

func forget(ctx context.Context, s *term.Streams, store history.Store, name string) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	err := store.Forget(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(store, name)
	}
	if err == nil {
		remark(s, name+" is forgotten")
	}
	return err
}

func show(ctx context.Context, l *argv.Line, s *term.Streams, store history.Store, name string) error {
	p, err := read(store, name, learn.Options{Base: backoff.DefaultBase})
	if err != nil {
		return err
	}
	remark(s, p.warnings...)
	if len(p.runs) == 0 {
		return unknown(store, name)
	}
	text := fmt.Sprintf("%s: %s\nlast run: %s\n", term.Line(name), p.counts(), p.last())
	if p.model != nil {
		text += "\n" + p.quantiles()
	}
	return l.Write(ctx, text)
}

// unknown reports that there is no history of that name, and suggests another.
func unknown(store history.Store, name string) error {
	names, _ := store.List()
	return argv.Usagef("there is no history of %q in %s", name, store.Dir).Meant(name, names)
}

// A past is the past runs of an operation.
type past struct {
	name     string
	runs     []history.Record // also those that were not seen to end
	model    *learn.Model     // nil without a run that finished
	warnings []string         // about skipped lines
}

func read(store history.Store, name string, o learn.Options) (p past, err error) {
	p.name = name
	p.runs, p.warnings, err = store.Read(name)
	p.model, _ = learn.Fit(history.Runs(p.runs), o)
	return p, err
}

func (p past) count(outcome history.Outcome) (n int) {
	for _, run := range p.runs {
		if run.Outcome == outcome {
			n++
		}
	}
	return n
}

func (p past) counts() string {
	var parts []string
	for _, outcome := range []history.Outcome{history.Success, history.Failure, history.Timeout, history.Interrupted} {
		if n := p.count(outcome); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return words.Count(len(p.runs), "run") + " (" + strings.Join(parts, ", ") + ")"
}

func (p past) last() string {
	if len(p.runs) == 0 {
		return "-"
	}
	last := p.runs[len(p.runs)-1]
	return last.End.UTC().Format("2006-01-02 15:04:05Z") + ", " + string(last.Outcome)
}

// quantile returns how long the next run takes at most, with a chance in percent.
func (p past) quantile(percent int) string {
	if p.model == nil {
		return "-"
	}
	return words.Duration(p.model.Quantile(float64(percent) / 100).Round(time.Millisecond))
}

func (p past) quantiles() string {
	return table.Table[int]{
		Columns: []table.Column[int]{
			{Head: "chance", Text: func(percent int) string { return strconv.Itoa(percent) + "%" }},
			{Head: "it is over by", Text: p.quantile},
		},
		Rows: []int{5, 10, 25, 50, 75, 90, 95},
	}.String()
}
