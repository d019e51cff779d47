// Package learning is the command line's part in learning from past runs: the flags
// for it, what a wait remembers of its own run, and the command that shows what is
// remembered.
package learning

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/ui/term"
)

// Flags are the flags of a learned schedule. The zero value is a command line without any.
type Flags struct {
	Learn                 string // the name of the operation; "" for none
	Cost                  learn.Cost
	Age                   time.Duration
	History               string
	StartedAt, FinishedAt string
}

// Table returns the table of the flags, which fill f.
func (f *Flags) Table() argv.Flags {
	return argv.Flags{
		{Name: "learn", Value: "NAME", Distinctive: true, To: argv.To(&f.Learn, parseName), Usage: "remember how long runs take, poll when they end"},
		{Name: "poll-cost", Value: "C", Default: "1%", Distinctive: true, To: argv.To(&f.Cost, parseCost), Needs: "learn", Usage: "higher: fewer attempts, later notice; % or D"},
		{Name: "age", Value: "D", Default: "0", To: argv.To(&f.Age, argv.ParseDuration), Needs: "learn", Usage: "how long the operation has been running already"},
		{Name: "history", Value: "DIR", Default: "~/.local/state/poll/history", WholeRun: true, To: argv.Text(&f.History), Needs: "learn", Usage: "keep past runs here"},
		{Name: "started-at", Value: "EXPR", Distinctive: true, To: argv.Text(&f.StartedAt), Needs: "learn", Usage: "when it started, from the last answer"},
		{Name: "finished-at", Value: "EXPR", Distinctive: true, To: argv.Text(&f.FinishedAt), Needs: "started-at", Usage: "when it ended, from the last answer"},
	}
}

func parseName(name string) (string, error) { return name, store.CheckName(name) }

// parseCost parses a cost: "1%" is a share of the median run, from 0.0001% to
// 100%, and "2s" a delay above 0.
func parseCost(s string) (c learn.Cost, err error) {
	if strings.HasSuffix(s, "%") {
		c.Share, err = argv.ParsePercent(s)
	} else {
		c.Delay, err = argv.ParseDuration(s)
	}
	if err != nil || c.Delay == 0 && !(c.Share > 0.999e-6 && c.Share <= 1) {
		return c, argv.Usagef("%q: want a percentage of the median from 0.0001%% to 100%%, or a time above 0 such as 2s", s)
	}
	return c, nil
}

// Options returns what shapes the learned schedule: no wait is below the strategy's base, or
// above the longest wait if one is given, to which a longer base gives way.
func (f *Flags) Options(waits *schedule.Flags, c schedule.Config) learn.Options {
	o := learn.Options{Cost: f.Cost, Age: f.Age, Base: c.Base, MaxWait: backoff.NoCap}
	if waits.MaxWait != nil && c.MaxWait > 0 {
		o.Base, o.MaxWait = min(c.Base, c.MaxWait), c.MaxWait
	}
	return o
}

// store finds where past runs are kept. The directory need not exist.
func (f *Flags) store(l *argv.Line) (store.History, error) {
	if f.History != "" {
		return store.History{Dir: f.History}, nil
	}
	dir, err := store.DefaultDir(l.Getenv)
	return store.History{Dir: dir}, err
}

// Schedules returns the schedules of a model: jitter moves its polls, and the wait
// after THROTTLED is at least that of the model and that of configured.
func Schedules(m *learn.Model, o learn.Options, jitter string, configured backoff.Schedule) (own, throttled backoff.Schedule) {
	own = m
	switch jitter {
	case schedule.JitterFull, schedule.JitterDecorrelated:
		own = m.Spread(1)
	case schedule.JitterEqual:
		own = m.Spread(0.5)
	}
	return own, backoff.Max(configured, backoff.Throttled(backoff.Cap{Of: own, Max: o.MaxWait}))
}

// Recall fits the history that --learn names. Where a variable names one without past runs, the
// model is nil, as for a wait.
func (f *Flags) Recall(l *argv.Line, s *term.Streams, o learn.Options) (*learn.Model, error) {
	saved, err := f.store(l)
	if err != nil {
		return nil, err
	}
	past, err := read(saved, f.Learn, o)
	if err != nil {
		return nil, err
	}
	remark(s, past.warnings...)
	if past.model == nil && l.Typed("learn") != nil {
		return nil, unknown(saved, past.name)
	}
	return past.model, nil
}

func remark(s *term.Streams, notes ...string) {
	for _, note := range notes {
		fmt.Fprintf(s.Err, "poll: %s\n", term.Line(note))
	}
}
