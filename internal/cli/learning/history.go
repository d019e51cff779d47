package learning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/chartfile"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/words"
)

// HistoryCommand returns the command that shows what is remembered.
func HistoryCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:     "history",
		Operands: "[NAME]",
		Summary:  "what --learn has remembered",
		About: "poll history lists what poll --learn has remembered; with a NAME it shows how\n" +
			"long the runs of that operation took, and how long the next may take.",
		Examples: []argv.Example{
			{Line: "poll history"},
			{Line: "poll history deploy"},
			{Line: "poll history deploy --svg deploy.svg", About: "when it ends, and when it is polled"},
			{Line: "poll history deploy --forget", About: "the next run starts over"},
		},
		Flags: append(Flags("").Only("history"),
			argv.Flag{Name: "forget", Usage: "remove the history of NAME"},
			argv.Flag{Name: "svg", Value: "FILE", Usage: "draw when NAME ends, and when it is polled"},
			argv.HelpFlag()),
		HasVariables: true,
		Conflicts:    argv.Conflicting("forget", "svg"),
		MaxOperands:  1,
		Surplus:      "takes one NAME",
		Run: func(ctx context.Context, l *argv.Line) error {
			store, err := readStore(l)
			switch {
			case err != nil:
				return err
			case len(l.Operands) == 0 && l.On("forget"):
				return argv.Usagef("--forget needs the NAME of a history")
			case len(l.Operands) == 0 && l.Has("svg"):
				return argv.Usagef("--svg needs the NAME of a history")
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
			if err := chartfile.Check(l, "svg"); err != nil {
				return err
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
		remark(s, "nothing is remembered in %s", store.Dir)
		return nil
	}
	column := func(head string, text func(runs) string) table.Column[runs] {
		return table.Column[runs]{Head: head, Text: text}
	}
	t := table.Table[runs]{Columns: []table.Column[runs]{
		column("name", func(r runs) string { return term.Line(r.name) }),
		column("runs", func(r runs) string { return strconv.Itoa(r.finished()) }),
		column("median", runs.median),
		column("last run", runs.last),
		column(" ", runs.lastOutcome), // without a heading
	}}
	for _, name := range names {
		r, err := read(store, name, learn.Options{})
		if err != nil {
			remark(s, "%v", err)
			continue
		}
		r.warn(s)
		t.Rows = append(t.Rows, r)
	}
	return l.Write(ctx, t.String())
}

func forget(ctx context.Context, s *term.Streams, store history.Store, name string) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeoutAfter)
	defer cancel()
	err := store.Forget(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(store, name)
	}
	if err == nil {
		remark(s, "%s is forgotten", name)
	}
	return err
}

func show(ctx context.Context, l *argv.Line, s *term.Streams, store history.Store, name string) error {
	r, err := read(store, name, learn.Options{Base: backoff.DefaultBase})
	if err != nil {
		return err
	}
	r.warn(s)
	if len(r.all) == 0 {
		return unknown(store, name)
	}
	text := fmt.Sprintf("%s: %s\nlast run: %s, %s\n", term.Line(name), r.counts(), r.last(), r.lastOutcome())
	if r.model == nil {
		if l.Has("svg") {
			return argv.Usagef("no run of %q has ended, so there is nothing to draw", name)
		}
		return l.Write(ctx, text)
	}
	p := r.picture()
	text += "\n" + r.quantiles() + "\n" + chart.Histogram(r.lengths(), interval, s.Unicode) + chart.Screen(s, p)
	return errors.Join(l.Write(ctx, text), chartfile.Write(l, chartfile.SVG(p)))
}

// picture draws the forecast, and the attempts until 19 of 20 runs are over.
func (r runs) picture() chart.Plot {
	const most = 100
	var ages []time.Duration
	for row := range (backoff.Table{Schedule: r.model, Attempts: most, Timeout: r.model.Quantile(0.95)}).Rows() {
		ages = append(ages, r.model.Age(row.At))
	}
	return Picture(term.Line(r.name), ages, r.model)
}

// unknown reports that there is no history of that name, and suggests another.
func unknown(store history.Store, name string) error {
	names, _ := store.List()
	return argv.Usagef("there is no history of %q in %s", name, store.Dir).Meant(name, names)
}

// runs are the past runs of an operation.
type runs struct {
	name     string
	all      []history.Record // also of runs that were not seen to end
	model    *learn.Model     // nil without one
	warnings []string         // about skipped lines
}

func read(store history.Store, name string, o learn.Options) (r runs, err error) {
	r.name = name
	r.all, r.warnings, err = store.Read(name)
	r.model, _ = learn.Fit(history.Runs(r.all), o) // nil without a run that finished
	return r, err
}

// finished returns how many runs were seen to end.
func (r runs) finished() (n int) {
	for _, run := range r.all {
		if run.Outcome.Finished() {
			n++
		}
	}
	return n
}

func (r runs) warn(s *term.Streams) {
	for _, w := range r.warnings {
		remark(s, "%s", w)
	}
}

func (r runs) median() string {
	if r.model == nil {
		return "-"
	}
	return r.quantile(0.5)
}

func (r runs) quantile(chance float64) string {
	return words.Duration(r.model.Quantile(chance).Round(time.Millisecond))
}

func (r runs) last() string {
	if len(r.all) == 0 {
		return "-"
	}
	return r.all[len(r.all)-1].End.UTC().Format("2006-01-02 15:04:05Z")
}

func (r runs) lastOutcome() string {
	if len(r.all) == 0 {
		return ""
	}
	return string(r.all[len(r.all)-1].Outcome)
}

func (r runs) counts() string {
	number := map[history.Outcome]int{}
	for _, run := range r.all {
		number[run.Outcome]++
	}
	var parts []string
	for _, outcome := range []history.Outcome{history.Success, history.Failure, history.Timeout, history.Interrupted} {
		if n := number[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return words.Count(len(r.all), "run") + " (" + strings.Join(parts, ", ") + ")"
}

// quantiles tabulates how long the next run takes at most, and the chance of that.
func (r runs) quantiles() string {
	return table.Table[int]{
		Columns: []table.Column[int]{
			{Head: "chance", Text: func(percent int) string { return strconv.Itoa(percent) + "%" }},
			{Head: "it is over by", Text: func(percent int) string { return r.quantile(float64(percent) / 100) }},
		},
		Rows: []int{5, 10, 25, 50, 75, 90, 95},
	}.String()
}

// interval formats the time between two numbers of seconds.
func interval(from, to float64) string {
	spell := func(s float64) string {
		if s >= math.MaxInt64/1e9 {
			return words.Duration(math.MaxInt64)
		}
		return words.Duration(time.Duration(math.Round(s * 1e9)))
	}
	return spell(from) + " to " + spell(to)
}

// lengths returns the durations, in seconds, of the finished runs learned from; if
// only known from attempts, the middle of the interval.
func (r runs) lengths() []float64 {
	var list []float64
	for _, run := range slices.Backward(r.all) {
		if run.Outcome.Finished() && len(list) < r.model.Runs() {
			list = append(list, (run.Lo.Seconds()+run.Hi.Seconds())/2)
		}
	}
	slices.Sort(list)
	return list
}
