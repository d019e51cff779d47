package learn

import (
	"strings"
	"time"

	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/status/expr"
)

// Flags are the values of the flags about learning. The zero value means that no such flag is given.
type Flags struct {
	Learn                 string // the name of the operation, or ""
	Cost                  cost
	Age                   time.Duration
	History               string
	StartedAt, FinishedAt string
}

// A cost is the cost of an attempt: either a share of the median run, from 0 to 1, or a delay. The other field
// is 0.
type cost struct {
	share float64
	delay time.Duration
}

// Table returns the command line flags that set the fields of a [Flags].
func Table() argv.Flags {
	return argv.Flags{
		{Name: "learn", HasVariable: true, Value: "NAME", Distinctive: true, Set: argv.Parsed(parseName, func(f *Flags, v string) { f.Learn = v }), Usage: "remember how long runs take, and poll when they end"},
		{Name: "poll-cost", HasVariable: true, Value: "C", Default: "1%", Distinctive: true, Set: argv.Parsed(parseCost, func(f *Flags, v cost) { f.Cost = v }), Needs: "learn", Usage: "accept this delay to save an attempt; % of a run, or D"},
		{Name: "age", Value: "D", Default: "0", Set: argv.Parsed(argv.ParseDuration, func(f *Flags, v time.Duration) { f.Age = v }), Needs: "learn", Usage: "how long the operation has been running"},
		{Name: "history", HasVariable: true, Value: "DIR", Default: "~/.local/state/poll/history", WholeRun: true, Set: argv.Text(func(f *Flags, v string) { f.History = v }), Needs: "learn", Usage: "the directory of past runs"},
		{Name: "started-at", Value: "EXPR", Distinctive: true, Set: argv.Text(func(f *Flags, v string) { f.StartedAt = v }), Needs: "learn", Usage: "when the operation started, from its last answer"},
		{Name: "finished-at", Value: "EXPR", Distinctive: true, Set: argv.Text(func(f *Flags, v string) { f.FinishedAt = v }), Needs: "started-at", Usage: "when the operation ended, from its last answer"},
	}
}

// parseName returns name, and the error of [CheckName].
func parseName(name string) (string, error) { return name, CheckName(name) }

// parseCost parses a cost. "1%" is a share of the median run, from 0.0001% to 100%. "2s" is a delay above 0.
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

// Options returns the options of a learned schedule. Its waits are from base to maxWait; 0 means that there is
// no such limit.
func (f *Flags) Options(base, maxWait time.Duration) fit.Options {
	return fit.Options{CostShare: f.Cost.share, Cost: f.Cost.delay, Age: f.Age, Base: base, MaxWait: maxWait}
}

// Store returns the directory of past runs, from --history or the environment of l. The directory need not
// exist. Store fails if the environment names no directory.
func (f *Flags) Store(l *argv.Line) (History, error) {
	if f.History != "" {
		return History{Dir: f.History}, nil
	}
	dir, err := system.StateDir(l.Getenv, "history")
	return History{Dir: dir}, err
}

// Recorder returns the recorder of the operation f.Learn, with its past runs and the model of o. isList means
// that the operation is a list. compile compiles the expression text of the flag called flag. Recorder fails if
// an expression is wrong or missing. Past runs that cannot be read become a warning of the recorder.
func (f *Flags) Recorder(l *argv.Line, o fit.Options, isList bool,
	compile func(l *argv.Line, flag, text string) (*expr.Expr, error)) (*Recorder, error) {
	r := &Recorder{Name: f.Learn, Age: f.Age, IsList: isList}
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
	r.Read(o)
	return r, nil
}
