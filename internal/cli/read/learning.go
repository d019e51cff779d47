package read

import (
	"cmp"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/status/expr"
)

// Learning is the flags of a learned schedule. The zero value is a command line without any.
type Learning struct {
	Learn                 string // the name of the operation, or ""
	Cost                  cost
	Age                   time.Duration
	History               string
	StartedAt, FinishedAt string
}

// A cost is the cost of an attempt, as a share of the median run or as a time.
type cost struct {
	share float64
	delay time.Duration
}

// LearningTable returns the table of the flags that fill [Learning].
func LearningTable() argv.Flags {
	return argv.Flags{
		{Name: "learn", HasVariable: true, Value: "NAME", Distinctive: true, Set: argv.Parsed(parseName, func(f *Learning, v string) { f.Learn = v }), Usage: "remember how long runs take, and poll when they end"},
		{Name: "poll-cost", HasVariable: true, Value: "C", Default: "1%", Distinctive: true, Set: argv.Parsed(parseCost, func(f *Learning, v cost) { f.Cost = v }), Needs: "learn", Usage: "accept this delay to save an attempt; % of a run, or D"},
		{Name: "age", Value: "D", Default: "0", Set: argv.Parsed(argv.ParseDuration, func(f *Learning, v time.Duration) { f.Age = v }), Needs: "learn", Usage: "how long the operation has been running"},
		{Name: "history", HasVariable: true, Value: "DIR", Default: "~/.local/state/poll/history", WholeRun: true, Set: argv.Text(func(f *Learning, v string) { f.History = v }), Needs: "learn", Usage: "the directory of past runs"},
		{Name: "started-at", Value: "EXPR", Distinctive: true, Set: argv.Text(func(f *Learning, v string) { f.StartedAt = v }), Needs: "learn", Usage: "when the operation started, from its last answer"},
		{Name: "finished-at", Value: "EXPR", Distinctive: true, Set: argv.Text(func(f *Learning, v string) { f.FinishedAt = v }), Needs: "started-at", Usage: "when the operation ended, from its last answer"},
	}
}

func parseName(name string) (string, error) { return name, learn.CheckName(name) }

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

// Options returns what shapes the learned schedule: no wait is below the strategy's base, or
// above the longest wait if one is given, to which a longer base gives way.
func (f *Learning) Options(w Waits) fit.Options {
	base := w.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Base
	if w.MaxWait > 0 {
		base = min(base, w.MaxWait)
	}
	return fit.Options{CostShare: f.Cost.share, Cost: f.Cost.delay, Age: f.Age, Base: base, MaxWait: w.MaxWait}
}

// Learned returns the schedules of a model: jitter moves its attempts, and the wait after
// THROTTLED is at least that of the model and that of configured.
func (w Waits) Learned(m *fit.Model, configured backoff.Schedule) (normal, throttled backoff.Schedule) {
	normal = m
	switch w.Jitter {
	case JitterFull, JitterDecorrelated:
		normal = m.Spread(1)
	case JitterEqual:
		normal = m.Spread(0.5)
	}
	capped := backoff.Cap(normal, cmp.Or(w.MaxWait, NoCap))
	return normal, backoff.Max(configured, backoff.Throttled(capped))
}

// Store finds where past runs are kept. The directory need not exist.
func (f *Learning) Store(l *argv.Line) (learn.History, error) {
	if f.History != "" {
		return learn.History{Dir: f.History}, nil
	}
	dir, err := system.StateDir(l.Getenv, "history")
	return learn.History{Dir: dir}, err
}

// Recorder returns the recorder of an operation or, if isList, of a list, with the past runs. compile compiles the
// expression of a flag.
func (f *Learning) Recorder(l *argv.Line, w Waits, isList bool,
	compile func(l *argv.Line, flag, text string) (*expr.Expr, error)) (*learn.Recorder, error) {
	r := &learn.Recorder{Name: f.Learn, Age: f.Age, IsList: isList}
	var err error
	if f.StartedAt != "" {
		if f.FinishedAt == "" {
			return nil, argv.Usagef("%s needs --finished-at, too: together they say how long it took", l.Origin("started-at"))
		}
		if r.StartedAt, err = compile(l, "started-at", f.StartedAt); err == nil {
			r.FinishedAt, err = compile(l, "finished-at", f.FinishedAt)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.History, err = f.Store(l); err != nil {
		r.Disable("nothing is learned", err)
		return r, nil
	}
	r.Read(f.Options(w))
	return r, nil
}
