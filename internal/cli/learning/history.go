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

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// HistoryCommand shows what is remembered.
func HistoryCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:     "history",
		Operands: "[NAME]",
		Summary:  "what --learn has remembered",
		About: "poll history lists what poll --learn has remembered; with a NAME it shows how\n" +
			"long the runs of that operation took, and what the next one is expected to take.",
		Examples: []argv.Example{
			{Line: "poll history"},
			{Line: "poll history deploy"},
			{Line: "poll history deploy --forget", About: "after which the next run is the first"},
		},
		Flags: append(Flags("").Only("history"),
			argv.Flag{Name: "forget", Usage: "remove the history of NAME"},
			argv.HelpFlag()),
		Most:    1,
		Surplus: "takes one NAME",
		Run: func(ctx context.Context, l *argv.Line) error {
			q, err := readQuestion(l)
			if err != nil {
				return err
			}
			return q.answer(ctx, l, s)
		},
	}
}

// A question is what is asked of the history.
type question struct {
	store  history.Store
	name   string // "" for all
	forget bool
}

func readQuestion(l *argv.Line) (q question, err error) {
	if q.store, err = readStore(l); err != nil {
		return q, err
	}
	q.forget = l.On("forget")
	if len(l.Operands) == 1 {
		q.name = l.Operands[0]
		if err := history.CheckName(q.name); err != nil {
			return q, argv.Usagef("%w", err)
		}
	} else if q.forget {
		return q, argv.Usagef("--forget needs the NAME of a history")
	}
	return q, nil
}

func (q question) answer(ctx context.Context, l *argv.Line, s *term.Streams) error {
	var text string
	var err error
	switch {
	case q.name == "":
		text, err = list(s, q.store)
	case q.forget:
		return forget(ctx, s, q.store, q.name)
	default:
		text, err = show(s, q.store, q.name)
	}
	if err != nil || text == "" {
		return err
	}
	return l.Write(ctx, text)
}

// list is a line for each history.
func list(s *term.Streams, store history.Store) (string, error) {
	names, err := store.List()
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		remark(s, "nothing is remembered in %s", store.Dir)
		return "", nil
	}
	t := table.Grid{Header: []string{"name", "runs", "median", "last run", ""}}
	for _, name := range names {
		r, err := read(s, store, name)
		if err != nil {
			remark(s, "%v", err)
			continue
		}
		t.Add(term.Line(name), strconv.Itoa(len(r.finished)), r.median(), r.last(), r.lastOutcome())
	}
	return t.String(), nil
}

func forget(ctx context.Context, s *term.Streams, store history.Store, name string) error {
	ctx, cancel := context.WithTimeout(ctx, mostPatience)
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

// show is all there is to say of one history.
func show(s *term.Streams, store history.Store, name string) (string, error) {
	r, err := read(s, store, name)
	if err != nil {
		return "", err
	}
	if len(r.all) == 0 {
		return "", unknown(store, name)
	}
	text := fmt.Sprintf("%s: %s\nlast run: %s, %s\n", term.Line(name), r.counts(), r.last(), r.lastOutcome())
	if r.model != nil {
		text += "\n" + r.quantiles() + "\n" + chart.Histogram(r.lengths(), interval, s.Unicode)
	}
	return text, nil
}

// unknown says that there is no history of that name, and what may be meant.
func unknown(store history.Store, name string) error {
	names, _ := store.List()
	return argv.Usagef("nothing is remembered of %q in %s", name, store.Dir).Meant(name, names)
}

// runs are the past runs of an operation.
type runs struct {
	all      []history.Record // oldest first
	finished []learn.Run      // those that came to an end
	model    *learn.Model     // nil without one
}

// read reads a history, and says what of it is skipped.
func read(s *term.Streams, store history.Store, name string) (runs, error) {
	records, warnings, err := store.Read(name)
	if err != nil {
		return runs{}, err
	}
	for _, w := range warnings {
		remark(s, "%s", w)
	}
	r := runs{all: records, finished: history.Runs(records)}
	r.model, _ = learn.Fit(r.finished, learn.Options{}) // nil without a run
	return r, nil
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

// counts says how many runs there are, and how they ended.
func (r runs) counts() string {
	var parts []string
	for _, outcome := range []history.Outcome{history.Success, history.Failure, history.Timeout, history.Interrupted} {
		n := 0
		for _, run := range r.all {
			if run.Outcome == outcome {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return words.Count(len(r.all), "run") + " (" + strings.Join(parts, ", ") + ")"
}

// quantiles are how long the next run takes at most, with what chance.
func (r runs) quantiles() string {
	t := table.Grid{Header: []string{"chance", "it is over by"}}
	for _, percent := range []int{5, 10, 25, 50, 75, 90, 95} {
		t.Add(strconv.Itoa(percent)+"%", r.quantile(float64(percent)/100))
	}
	return t.String()
}

// interval writes the time from one number of seconds to another.
func interval(from, to float64) string {
	spell := func(s float64) string {
		if s >= math.MaxInt64/1e9 {
			return words.Duration(math.MaxInt64)
		}
		return words.Duration(time.Duration(math.Round(s * 1e9)))
	}
	return spell(from) + " to " + spell(to)
}

// lengths of the runs that are learned from, in seconds, where they are known by
// attempts only in the middle between the two.
func (r runs) lengths() []float64 {
	var list []float64
	for _, run := range r.finished[max(0, len(r.finished)-r.model.Runs()):] {
		list = append(list, (run.Lo.Seconds()+run.Hi.Seconds())/2)
	}
	slices.Sort(list)
	return list
}
