// Package learning is the command line's part in learning from past runs: the flags
// for it, what a wait remembers of its own run, and the command that shows what is
// remembered.
package learning

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

// Flags returns the flags that shape a learned schedule.
func Flags(group string) argv.Flags {
	return argv.Flags{
		{Name: "learn", Value: "NAME", Distinctive: true, Group: group, Usage: "remember how long runs take, poll when they end"},
		{Name: "poll-cost", Value: "C", Default: "1%", Distinctive: true, Group: group, Usage: "higher: fewer attempts, later notice; % or D"},
		{Name: "age", Value: "D", Default: "0", Group: group, Usage: "how long the operation has been running already"},
		{Name: "history", Value: "DIR", Default: "~/.local/state/poll/history", Group: group, Usage: "keep past runs here"},
		{Name: "started-at", Value: "EXPR", Distinctive: true, Group: group, Usage: "when it started, from the last answer"},
		{Name: "finished-at", Value: "EXPR", Distinctive: true, Group: group, Usage: "when it ended, from the last answer"},
	}
}

// RefuseUnlearned refuses flags that mean something only with --learn.
func RefuseUnlearned(l *argv.Line) error {
	if l.Has("learn") {
		return nil
	}
	for _, f := range Flags("") {
		if l.Typed(f.Name) != nil {
			return argv.Usagef("--%s needs --learn NAME", f.Name)
		}
	}
	return nil
}

// readOptions checks the name, and reads what shapes the learned schedule.
func readOptions(l *argv.Line, config schedule.Config) learn.Options {
	options := learn.Options{Age: l.Duration("age", 0)}
	if err := store.CheckName(l.String("learn")); err != nil {
		l.Fail("learn", err)
	}
	if l.Has("poll-cost") {
		var err error
		if options.Cost, err = parseCost(l.String("poll-cost")); err != nil {
			l.Fail("poll-cost", err)
		}
	}
	options.Base, options.MaxWait = bounds(l, config)
	return options
}

// parseCost parses a cost: "1%" is a share of the median run, from 0.0001% to
// 100%, and "2s" a delay above 0.
func parseCost(s string) (learn.Cost, error) {
	if number, ok := strings.CutSuffix(s, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent >= 0.0001 && percent <= 100) {
			return learn.Cost{}, fmt.Errorf("%q: want a percentage from 0.0001%% to 100%%", s)
		}
		return learn.Cost{Share: percent / 100}, nil
	}
	delay, err := time.ParseDuration(s)
	if err != nil || delay <= 0 {
		return learn.Cost{}, fmt.Errorf("%q: want a percentage of the median such as 1%%, or a duration above 0 such as 2s", s)
	}
	return learn.Cost{Delay: delay}, nil
}

// bounds returns the bounds of the learned waits: the strategy's base, and the
// longest wait if one is given, to which a longer base gives way.
func bounds(l *argv.Line, config schedule.Config) (least, most time.Duration) {
	if l.Has("max-wait") && config.MaxWait > 0 {
		return min(config.Base, config.MaxWait), config.MaxWait
	}
	return config.Base, backoff.NoCap
}

// readStore finds where past runs are kept. The directory need not exist.
func readStore(l *argv.Line) (store.History, error) {
	if dir := l.String("history"); dir != "" {
		return store.History{Dir: dir}, nil
	}
	dir, err := store.DefaultDir(l.Getenv)
	return store.History{Dir: dir}, err
}

// Schedules returns the schedules of a model: jitter moves its polls, and the wait
// after THROTTLED is at least that of the model and that of configured.
func Schedules(l *argv.Line, m *learn.Model, config schedule.Config, configured backoff.Schedule) (own, throttled backoff.Schedule) {
	switch config.Jitter {
	case schedule.JitterFull, schedule.JitterDecorrelated:
		own = m.Spread(1)
	case schedule.JitterEqual:
		own = m.Spread(0.5)
	default:
		own = m
	}
	_, most := bounds(l, config)
	return own, backoff.Max(configured, backoff.Throttled(backoff.Cap{Of: own, Max: most}))
}

// Recall fits the history that --learn names. Where a variable names one without past runs, the
// model is nil, as for a wait.
func Recall(l *argv.Line, s *term.Streams, config schedule.Config) (*learn.Model, error) {
	options := readOptions(l, config)
	if l.Err() != nil {
		return nil, l.Err()
	}
	saved, err := readStore(l)
	if err != nil {
		return nil, err
	}
	past, err := read(saved, l.String("learn"), options)
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

// A Recorder takes what a wait should know from past runs of the operation, and
// remembers this run for the next. Trouble with the saved never fails the wait: it
// is told once. A nil Recorder does nothing.
type Recorder struct {
	Name  string
	Model *learn.Model // nil if there is no past run

	saved store.History // without a directory if it cannot be used
	age   time.Duration // of the operation when the wait starts it, or else itself starts
	// startedAt and finishedAt read the times of the operation from its last
	// answer; nil if not given.
	startedAt, finishedAt *expr.Expr

	warnings []string
	seen     completion
	list     *listCompletion // nil for one operation
	run      *store.Record   // which has ended; nil if there is nothing to remember
}

// A Compiler compiles the expression of a flag.
type Compiler = func(l *argv.Line, flag string) (*expr.Expr, error)

// NewRecorder reads the flags of a wait with --learn, then the past runs.
func NewRecorder(l *argv.Line, config schedule.Config, compile Compiler) (*Recorder, error) {
	options := readOptions(l, config)
	r := &Recorder{Name: l.String("learn"), age: options.Age}
	if l.Has("each") {
		r.list = new(listCompletion)
	}
	if err := l.ErrOr(r.readTimes(l, compile)); err != nil {
		return nil, err
	}
	var err error
	if r.saved, err = readStore(l); err != nil {
		r.warnings = append(r.warnings, "nothing is learned: "+err.Error())
		return r, nil
	}
	past, err := read(r.saved, r.Name, options)
	if r.warnings, r.Model = past.warnings, past.model; err != nil {
		r.warnings = append(r.warnings, "nothing is known of past runs: "+err.Error())
		r.saved.Dir = ""
	}
	return r, nil
}

// readTimes reads the expressions for the times of the operation; both are needed.
func (r *Recorder) readTimes(l *argv.Line, compile Compiler) (err error) {
	for _, flag := range [][2]string{{"started-at", "finished-at"}, {"finished-at", "started-at"}} {
		if l.Has(flag[0]) && !l.Has(flag[1]) {
			return argv.Usagef("%s needs --%s, too: together they say how long it took", l.Origin(flag[0]), flag[1])
		}
	}
	if !l.Has("started-at") {
		return nil
	}
	if r.startedAt, err = compile(l, "started-at"); err != nil {
		return err
	}
	r.finishedAt, err = compile(l, "finished-at")
	return err
}

// Observe takes an event of the run, or of a list and its elements.
func (r *Recorder) Observe(ev poll.Event) {
	switch {
	case r == nil:
	case r.list != nil:
		r.list.see(ev, &r.seen)
	default:
		r.seen.see(ev)
	}
}

// End takes how the run ended. One that an earlier process saw the end of is not learned from.
func (r *Recorder) End(ctx context.Context, o poll.Outcome) {
	if r == nil || o.Resumed {
		return
	}
	if run, ok := r.record(ctx, o); ok {
		r.run = &run
	}
}

// EndList is [Recorder.End] for a list, whose run is over once all elements have ended, or
// as many have succeeded as had to.
func (r *Recorder) EndList(ctx context.Context, s poll.Summary) {
	if r == nil {
		return
	}
	if o, ok := r.list.outcome(s, &r.seen); ok {
		r.End(ctx, o)
	}
}

// How long a run waits for others who write to the history. One of them may be stopped.
const (
	lockTimeout      = 2 * time.Second
	lockTimeoutLeast = 100 * time.Millisecond // even after a signal or the deadline
)

// Save remembers the run that has ended; left is what remains until the deadline. It comes
// after the result, since other processes may hold the history.
func (r *Recorder) Save(ctx context.Context, left time.Duration) error {
	if r == nil || r.run == nil || r.saved.Dir == "" {
		return nil
	}
	if ctx.Err() != nil { // the signal that ended the run does not end this
		ctx, left = context.WithoutCancel(ctx), 0
	}
	ctx, cancel := context.WithTimeout(ctx, max(min(left, lockTimeout), lockTimeoutLeast))
	defer cancel()
	if err := r.saved.Append(ctx, r.Name, *r.run); err != nil {
		return fmt.Errorf("this run is not remembered: %w", err)
	}
	return nil
}

// Warnings returns what went wrong with learning, but for saving.
func (r *Recorder) Warnings() []string {
	if r == nil {
		return nil
	}
	return r.warnings
}
