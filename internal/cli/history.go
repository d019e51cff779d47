package cli

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
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

func historyCommand() *command {
	return &command{
		name:     "history",
		operands: "[NAME]",
		summary:  "what --learn has remembered",
		about: "poll history lists what poll --learn has remembered; with a NAME it shows how\n" +
			"long the runs of that operation took, and what the next one is expected to take.",
		examples: []example{
			{"poll history", ""},
			{"poll history deploy", ""},
			{"poll history deploy --forget", "after which the next run is the first"},
		},
		flags: append(mainFlags().only("history"),
			flag{name: "forget", usage: "remove the history of NAME"},
			helpFlag()),
		run: func(in *invocation) error { return await(in.ctx, in.history) },
	}
}

func (in *invocation) history() error {
	names := in.split.operands
	if len(names) > 1 {
		return surplus(names, 1, "history takes one NAME")
	}
	dir, err := in.historyDir()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := history.CheckName(name); err != nil {
			return usagef("%w", err)
		}
	}
	store := history.Store{Dir: dir}
	forget := in.split.on("forget")
	switch {
	case len(names) == 0 && forget:
		return usagef("--forget needs the NAME of a history")
	case len(names) == 0:
		return in.listHistories(store)
	case forget:
		return in.forgetHistory(store, names[0])
	default:
		return in.showHistory(store, names[0])
	}
}

// listHistories answers with a line for each history.
func (in *invocation) listHistories(store history.Store) error {
	names, err := store.List()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		in.remark("nothing is remembered in %s", store.Dir)
		return nil
	}
	s := &sheet{header: []string{"name", "runs", "median", "last run", ""}}
	for _, name := range names {
		p, err := in.past(store, name)
		if err != nil {
			in.remark("%v", err)
			continue
		}
		s.add(term.Line(name), strconv.Itoa(len(p.runs)), p.median(), p.last(), p.lastOutcome())
	}
	return in.writeOut(s.text())
}

func (in *invocation) forgetHistory(store history.Store, name string) error {
	ctx, cancel := context.WithTimeout(in.ctx, mostPatience)
	defer cancel()
	err := store.Forget(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return in.noHistory(store, name)
	}
	if err != nil {
		return err
	}
	in.remark("%s is forgotten", name)
	return nil
}

// showHistory answers with all there is to say of one history.
func (in *invocation) showHistory(store history.Store, name string) error {
	p, err := in.past(store, name)
	if err != nil {
		return err
	}
	if len(p.records) == 0 {
		return in.noHistory(store, name)
	}
	text := fmt.Sprintf("%s: %s\nlast run: %s, %s\n", term.Line(name), p.counts(), p.last(), p.lastOutcome())
	if p.model != nil {
		text += "\n" + p.quantiles().text() + "\n" + chart.Histogram(p.lengths(), spellInterval, in.Streams.Unicode)
	}
	return in.writeOut(text)
}

// noHistory says that there is none of that name, and what may be meant.
func (in *invocation) noHistory(store history.Store, name string) error {
	err := usagef("nothing is remembered of %q in %s", name, store.Dir)
	if names, _ := store.List(); names != nil {
		if near := nearest(name, names); near != "" {
			err.hint("did you mean %s?", near)
		}
	}
	return err
}

// remark says something beside the result.
func (in *invocation) remark(format string, args ...any) {
	fmt.Fprintf(in.Streams.Err, "poll: %s\n", term.Line(fmt.Sprintf(format, args...)))
}

// A past is what is known of the runs of an operation.
type past struct {
	records []history.Record // all, oldest first
	runs    []learn.Run      // that came to an end
	model   *learn.Model     // nil without one
}

// past reads a history, and says what of it is skipped.
func (in *invocation) past(store history.Store, name string) (past, error) {
	records, warnings, err := store.Read(name)
	if err != nil {
		return past{}, err
	}
	for _, w := range warnings {
		in.remark("%s", w)
	}
	p := past{records: records, runs: history.Runs(records)}
	p.model, _ = learn.Fit(p.runs, learn.Options{}) // nil without a run
	return p, nil
}

func (p past) median() string {
	if p.model == nil {
		return "-"
	}
	return p.quantile(0.5)
}

func (p past) quantile(chance float64) string {
	return words.Duration(p.model.Quantile(chance).Round(time.Millisecond))
}

func (p past) last() string {
	if len(p.records) == 0 {
		return "-"
	}
	return p.records[len(p.records)-1].End.UTC().Format("2006-01-02 15:04:05Z")
}

func (p past) lastOutcome() string {
	if len(p.records) == 0 {
		return ""
	}
	return string(p.records[len(p.records)-1].Outcome)
}

// counts says how many runs there are, and how they ended.
func (p past) counts() string {
	var parts []string
	for _, outcome := range []history.Outcome{history.Success, history.Failure, history.Timeout, history.Interrupted} {
		n := 0
		for _, r := range p.records {
			if r.Outcome == outcome {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return words.Count(len(p.records), "run") + " (" + strings.Join(parts, ", ") + ")"
}

// quantiles are how long the next run takes at most, with what chance.
func (p past) quantiles() *sheet {
	s := &sheet{header: []string{"chance", "it is over by"}}
	for _, percent := range []int{5, 10, 25, 50, 75, 90, 95} {
		s.add(strconv.Itoa(percent)+"%", p.quantile(float64(percent)/100))
	}
	return s
}

// spellInterval writes the time from one number of seconds to another.
func spellInterval(from, to float64) string {
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
func (p past) lengths() []float64 {
	var list []float64
	for _, r := range p.runs[max(0, len(p.runs)-p.model.Runs()):] {
		list = append(list, (r.Lo.Seconds()+r.Hi.Seconds())/2)
	}
	slices.Sort(list)
	return list
}
