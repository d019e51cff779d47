package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/ui/term"
)

// Learning is the flags of a learned schedule. The zero value is a command line without any.
type Learning struct {
	Learn                 string // the name of the operation; "" for none
	Cost                  cost
	Age                   time.Duration
	History               string
	StartedAt, FinishedAt string
}

// A cost is what an attempt costs, as a share of the median run or as a time.
type cost struct {
	share float64
	delay time.Duration
}

// Table returns the table of the flags, which fill f.
func (f *Learning) Table() argv.Flags {
	return argv.Flags{
		{Name: "learn", Value: "NAME", Distinctive: true, To: argv.Var(&f.Learn, parseName), Usage: "remember how long runs take, and poll when they end"},
		{Name: "poll-cost", Value: "C", Default: "1%", Distinctive: true, To: argv.Var(&f.Cost, parseCost), Needs: "learn", Usage: "accept this delay to save an attempt; % of a run, or D"},
		{Name: "age", Value: "D", Default: "0", To: argv.Var(&f.Age, argv.ParseDuration), Needs: "learn", Usage: "how long the operation has been running"},
		{Name: "history", Value: "DIR", Default: "~/.local/state/poll/history", WholeRun: true, To: argv.TextVar(&f.History), Needs: "learn", Usage: "the directory of past runs"},
		{Name: "started-at", Value: "EXPR", Distinctive: true, To: argv.TextVar(&f.StartedAt), Needs: "learn", Usage: "when the operation started, from its last answer"},
		{Name: "finished-at", Value: "EXPR", Distinctive: true, To: argv.TextVar(&f.FinishedAt), Needs: "started-at", Usage: "when the operation ended, from its last answer"},
	}
}

func parseName(name string) (string, error) { return name, store.CheckName(name) }

// parseCost parses a cost: "1%" is a share of the median run, from 0.0001% to
// 100%, and "2s" a delay above 0.
func parseCost(s string) (c cost, err error) {
	if strings.HasSuffix(s, "%") {
		c.share, err = argv.ParsePercent(s)
	} else {
		c.delay, err = argv.ParseDuration(s)
	}
	if err != nil || c.delay == 0 && !(c.share > 0.999e-6 && c.share <= 1) {
		return c, argv.Usagef("%q: want a percentage of the median from 0.0001%% to 100%%, or a time above 0 such as 2s", s)
	}
	return c, nil
}

// options returns what shapes the learned schedule: no wait is below the strategy's base, or
// above the longest wait if one is given, to which a longer base gives way.
func (f *Learning) options(w Waits) learn.Options {
	base := w.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Base
	if w.MaxWait > 0 {
		base = min(base, w.MaxWait)
	}
	return learn.Options{CostShare: f.Cost.share, Cost: f.Cost.delay, Age: f.Age, Base: base, MaxWait: w.MaxWait}
}

// Learned returns the schedules of a model: jitter moves its attempts, and the wait after
// THROTTLED is at least that of the model and that of configured.
func (w Waits) Learned(m *learn.Model, configured backoff.Schedule) (normal, throttled backoff.Schedule) {
	normal = m
	switch w.Jitter {
	case JitterFull, JitterDecorrelated:
		normal = m.Spread(1)
	case JitterEqual:
		normal = m.Spread(0.5)
	}
	capped := backoff.Cap(normal, cmp.Or(w.MaxWait, noCap))
	return normal, backoff.Max(configured, backoff.Throttled(capped))
}

// store finds where past runs are kept. The directory need not exist.
func (f *Learning) store(l *argv.Line) (store.History, error) {
	if f.History != "" {
		return store.History{Dir: f.History}, nil
	}
	dir, err := store.DefaultDir(l.Getenv, "history")
	return store.History{Dir: dir}, err
}

// A past is the past runs of an operation.
type past struct {
	runs     []store.Record // also those that were not seen to end
	model    *learn.Model   // nil without a run that finished
	warnings []string       // about skipped lines
}

func read(saved store.History, name string, o learn.Options) (p past, err error) {
	p.runs, p.warnings, err = saved.Read(name)
	p.model, _ = learn.Fit(store.Runs(p.runs), o)
	return p, err
}

// recall fits the history that --learn names. Where a variable names one without past runs, the
// model is nil, as for a wait.
func (f *Learning) recall(l *argv.Line, s *term.Streams, w Waits) (*learn.Model, error) {
	saved, err := f.store(l)
	if err != nil {
		return nil, err
	}
	past, err := read(saved, f.Learn, f.options(w))
	if err != nil {
		return nil, err
	}
	warn(s, past.warnings...)
	if past.model == nil && l.Rank("learn") == argv.Typed {
		return nil, unknown(saved, f.Learn)
	}
	return past.model, nil
}

// unknown reports that there is no history of that name, and suggests another.
func unknown(saved store.History, name string) error {
	names, _ := saved.List()
	return argv.Usagef("there is no history of %q in %s", name, saved.Dir).Meant(name, names)
}

func warn(s *term.Streams, notes ...string) {
	for _, note := range notes {
		fmt.Fprintf(s.Err, "poll: %s\n", term.Line(note))
	}
}
