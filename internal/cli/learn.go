package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

// A lesson is what a wait takes from past runs of its operation, and leaves for
// the next one. Trouble with the place where they are kept never fails the
// wait: it is said once, at the end.
type lesson struct {
	name  string
	store history.Store
	age   time.Duration // of the operation when the wait for it starts, or starts it
	// startedAt and finishedAt read the times of the operation from its last
	// answer; nil if that does not say them.
	startedAt, finishedAt *expr.Expr

	model   *learn.Model // nil if there is no past run
	closed  bool         // the place cannot be used, which has been said
	trouble []string
	seen    sighting
	run     history.Record // that has ended
}

// configureLearning reads what is known of past runs, after everything else has
// been found right: without --learn nothing is read.
func (in *invocation) configureLearning(w *wait) error {
	if err := in.refuseUnlearned(); err != nil || !in.split.has("learn") {
		return err
	}
	l, options, err := in.lesson(w.config)
	if err != nil {
		return err
	}
	w.lesson = l
	l.recall(options)
	if l.model == nil {
		w.report.Opening = append(w.report.Opening, fmt.Sprintf("no past run of %s is known yet", l.name))
		return nil
	}
	w.poller.Resend = w.poller.Schedule
	w.poller.Schedule, w.poller.Throttled = in.learned(l.model, w.config, w.poller.Throttled)
	w.report.Forecast, w.output.Forecast = l.model, l.model
	return nil
}

// refuseUnlearned refuses flags that only --learn gives a meaning.
func (in *invocation) refuseUnlearned() error {
	if in.split.has("learn") {
		return nil
	}
	for _, name := range []string{"poll-cost", "age", "history", "started-at", "finished-at"} {
		if g := in.split.last(name); g != nil && !g.env {
			return usagef("--%s says nothing without --learn NAME", name)
		}
	}
	return nil
}

// lesson reads the flags.
func (in *invocation) lesson(config backoff.Config) (*lesson, learn.Options, error) {
	v := in.values
	options := in.learnOptions(config)
	l := &lesson{name: v.String("learn"), age: options.Age}
	err := in.timesOf(l)
	if err == nil {
		err = v.err
	}
	if err != nil {
		return nil, options, err
	}
	l.store.Dir, err = in.historyDir()
	if isUsage(err) {
		return nil, options, err
	}
	l.close("nothing is learned", err)
	return l, options, nil
}

// learnOptions reads the name, which only has to be right, and what shapes the
// learned schedule.
func (in *invocation) learnOptions(config backoff.Config) learn.Options {
	v := in.values
	options := learn.Options{Age: v.duration("age", 0)}
	if err := history.CheckName(v.String("learn")); err != nil {
		v.fail("learn", err)
	}
	if v.IsSet("poll-cost") {
		var err error
		if options.Cost, err = learn.ParseCost(v.String("poll-cost")); err != nil {
			v.fail("poll-cost", err)
		}
	}
	options.Base, options.MaxWait = in.gaps(config)
	return options
}

// gaps are the bounds of the learned waits: the strategy's base, and the longest
// wait if one is asked for. A base above that gives way, as everywhere.
func (in *invocation) gaps(config backoff.Config) (least, most time.Duration) {
	if in.values.IsSet("max-wait") && config.MaxWait > 0 {
		return min(config.Base, config.MaxWait), config.MaxWait
	}
	return config.Base, backoff.NoCap
}

// timesOf reads the expressions for the times of the operation, of which both
// are needed.
func (in *invocation) timesOf(l *lesson) error {
	v := in.values
	for _, f := range []struct {
		name, other string
		expr        **expr.Expr
	}{{"started-at", "finished-at", &l.startedAt}, {"finished-at", "started-at", &l.finishedAt}} {
		if !v.IsSet(f.name) {
			continue
		}
		if !v.IsSet(f.other) {
			return usagef("%s needs --%s, too: together they say how long it took", v.origin(f.name), f.other)
		}
		e, err := expr.CompileValue(v.String(f.name))
		if err != nil {
			return badExpression(v.origin(f.name), err)
		}
		*f.expr = e
	}
	return nil
}

// historyDir is where past runs are kept. It need not exist.
func (in *invocation) historyDir() (string, error) {
	v := in.values
	if !v.IsSet("history") {
		return history.DefaultDir(in.getenv)
	}
	if v.String("history") == "" {
		return "", usagef("%s needs the name of a directory", v.origin("history"))
	}
	return v.String("history"), nil
}

// learned returns the schedules of a model: jitter moves its polls, and what is
// waited after THROTTLED is no shorter than by the model or as configured.
func (in *invocation) learned(m *learn.Model, config backoff.Config, configured backoff.Schedule) (own, throttled backoff.Schedule) {
	switch config.Jitter {
	case backoff.JitterFull, backoff.JitterDecorrelated:
		own = m.Spread(1)
	case backoff.JitterEqual:
		own = m.Spread(0.5)
	default:
		own = m
	}
	_, most := in.gaps(config)
	return own, backoff.Max(configured, backoff.Throttled(backoff.Cap{Of: own, Max: most}))
}

// close notes that the place of the history cannot be used, and what of it.
func (l *lesson) close(so string, err error) {
	if err != nil && !l.closed {
		l.closed = true
		l.trouble = append(l.trouble, so+": "+err.Error())
	}
}

// recall fits the model to the past runs.
func (l *lesson) recall(options learn.Options) {
	if l.closed {
		return
	}
	records, warnings, err := l.store.Read(l.name)
	l.trouble = append(l.trouble, warnings...)
	l.close("nothing is known of past runs", err)
	l.model, _ = learn.Fit(history.Runs(records), options) // nil without a run
}

// see takes note of an event.
func (l *lesson) see(ev poll.Event) {
	if l != nil {
		l.seen.see(ev)
	}
}

// The times for which a run waits until others have written theirs. One of them
// may be stopped, so none is long.
const (
	firstPatience = 20 * time.Millisecond  // before the result
	mostPatience  = 2 * time.Second        // after it
	leastPatience = 100 * time.Millisecond // even if the time for everything is over
)

// keep remembers the run that has ended. It reports whether that has to wait for
// others.
func (l *lesson) keep(ctx context.Context, o poll.Outcome) (held bool) {
	if l == nil {
		return false
	}
	r, ok := l.record(ctx, o)
	if !ok || l.store.Dir == "" {
		return false
	}
	l.run = r
	err := l.add(ctx, firstPatience)
	if errors.Is(err, history.ErrHeld) {
		return true
	}
	l.close("this run is not remembered", err)
	return false
}

// insist remembers the run although others have to be waited for, when so much
// is left of the time for everything.
func (l *lesson) insist(ctx context.Context, left time.Duration) {
	l.close("this run is not remembered", l.add(ctx, max(min(left, mostPatience), leastPatience)))
}

// add adds the run to the history. A signal ends it, but not the one that has
// ended the run.
func (l *lesson) add(ctx context.Context, patience time.Duration) error {
	if ctx.Err() != nil {
		ctx, patience = context.WithoutCancel(ctx), min(patience, leastPatience)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.store.Append(ctx, l.name, l.run)
}

// said is what trouble there was.
func (l *lesson) said() []string {
	if l == nil {
		return nil
	}
	return l.trouble
}
