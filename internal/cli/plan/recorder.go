package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status/expr"
)

// A Recorder takes what a wait should know from past runs of the operation, and
// remembers this run for the next. Trouble with the history never fails the wait: it
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

// Recorder reads the past runs of an operation or, if isList, of a list. compile compiles the
// expression of a flag.
func (f *Learning) Recorder(l *argv.Line, w Waits, isList bool,
	compile func(l *argv.Line, flag string) (*expr.Expr, error)) (*Recorder, error) {
	r := &Recorder{Name: f.Learn, age: f.Age}
	if isList {
		r.list = new(listCompletion)
	}
	var err error
	if f.StartedAt != "" {
		if f.FinishedAt == "" {
			return nil, argv.Usagef("%s needs --finished-at, too: together they say how long it took", l.Origin("started-at"))
		}
		if r.startedAt, err = compile(l, "started-at"); err == nil {
			r.finishedAt, err = compile(l, "finished-at")
		}
		if err != nil {
			return nil, err
		}
	}
	if r.saved, err = f.store(l); err != nil {
		r.warnings = append(r.warnings, "nothing is learned: "+err.Error())
		return r, nil
	}
	past, err := read(r.saved, r.Name, f.options(w))
	if r.warnings, r.Model = past.warnings, past.model; err != nil {
		r.warnings = append(r.warnings, "nothing is known of past runs: "+err.Error())
		r.saved.Dir = ""
	}
	return r, nil
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
