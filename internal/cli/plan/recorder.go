package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
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

// A completion is what the attempts of a run have seen of the end of the operation,
// which came between two of them. Times are ages of the operation.
type completion struct {
	last       status.Status
	unfinished time.Duration // when the last attempt that saw it unfinished began; 0 if there was none
	finished   time.Duration // when the first of the attempts that see it finished ended
}

// see records an attempt. THROTTLED and an attempt ended from outside tell nothing
// about the operation. Of several attempts that a threshold requires, the first saw
// the end.
func (c *completion) see(ev poll.Event) {
	if ev.Kind != poll.EventAttempt || ev.Observation != nil && ev.Observation.Stopped() {
		return
	}
	now := ev.Verdict.Status
	if ofResult(ev.Observation) {
		now = status.Success
	}
	switch now {
	case status.NotReady:
		c.unfinished = max(0, ev.Age()-ev.Took)
	case status.Success, status.Error:
		if now != c.last {
			c.finished = ev.Age()
		}
	}
	c.last = now
}

// ofResult reports whether an attempt looked for the result of an operation
// that was known to be done.
func ofResult(o *status.Observation) bool {
	return o != nil && o.Following.Monitor == status.MonitorResult
}

// A listCompletion is what the looks at a list have seen of the end of its last element.
// It is found backwards: when an element has ended that nothing was told of before, it had
// not at the look before that one. Times are ages of the list.
type listCompletion struct {
	before, last time.Duration // when the last looks began that tell of the elements; 0 for none
	looked       time.Duration // when the last look ended
	failed       poll.Outcome  // of the last element that did
	broken       bool          // the list could not be waited for
}

// see records an event of the list, or of an element. A look that was THROTTLED, or that no
// element could be judged by, tells nothing.
func (l *listCompletion) see(ev poll.Event, end *completion) {
	switch {
	case ev.Kind == poll.EventAttempt && ev.N == 0:
		l.before, l.looked = l.last, ev.Age()
		if ev.Verdict.Status == status.NotReady && !ev.Observation.Stopped() {
			l.last = max(0, ev.Age()-ev.Took)
		}
	case ev.Kind == poll.EventAttempt && ev.Verdict.Status.Ends() && ev.State.Streak == 1:
		end.last, end.unfinished, end.finished = ev.Verdict.Status, l.before, l.looked
	case ev.Kind == poll.EventEnd && ev.Outcome.Ending == poll.Failed:
		l.failed = *ev.Outcome
		l.broken = l.broken || ev.N == 0 || ev.Outcome.Verdict.Status != status.Error
	}
}

// outcome returns that of a list, false if its end was not seen. If an element has failed and
// another was given up, it is not known how long all of them would have taken.
func (l *listCompletion) outcome(s poll.Summary, end *completion) (poll.Outcome, bool) {
	o := poll.Outcome{Ending: s.Ending, State: poll.State{Attempts: s.Attempts}}
	if o.Ending == poll.Failed {
		o.Verdict, o.Observation = l.failed.Verdict, l.failed.Observation
		if s.Endings[poll.TimedOut]+s.Endings[poll.AttemptsExhausted]+s.Endings[poll.HintTooLong] > 0 {
			o.Ending = poll.TimedOut
		}
	}
	if o.Ending == poll.Succeeded || o.Ending == poll.Failed {
		return o, !l.broken && end.last != status.None
	}
	end.unfinished = l.last
	return o, true
}

// record returns what to remember of a run, false for nothing.
func (r *Recorder) record(ctx context.Context, o poll.Outcome) (store.Record, bool) {
	outcome, ok := remembered(o)
	run := store.Record{End: time.Now(), Outcome: outcome}
	if r.seen.unfinished > 0 {
		run.Lo = backoff.Add(r.age, r.seen.unfinished)
	}
	if !outcome.Finished() {
		return run, ok
	}
	run.Hi = backoff.Add(r.age, r.seen.finished)
	if r.startedAt == nil {
		// If the first attempt finds an operation finished that was old already, it
		// may have ended at any earlier age: nothing to learn from.
		return run, ok && (r.age == 0 || r.seen.unfinished > 0)
	}
	took, err := r.took(ctx, o.Observation)
	if err != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("how long it took is known only from its attempts: %v", err))
		return run, ok
	}
	run.Lo, run.Hi = took, took
	return run, ok
}

// remembered returns the outcome for the history, false if the run tells nothing
// about the operation. A wait that stopped before the end, for whatever reason, is
// a timeout.
func remembered(o poll.Outcome) (store.Outcome, bool) {
	if ofResult(o.Observation) {
		return store.Success, true
	}
	switch o.Ending {
	case poll.Succeeded:
		return store.Success, true
	case poll.Failed:
		return store.Failure, failed(o)
	case poll.TimedOut, poll.AttemptsExhausted, poll.HintTooLong:
		return store.Timeout, o.State.Attempts > 0
	case poll.Interrupted:
		return store.Interrupted, o.State.Attempts > 0
	}
	return "", false
}

// failed distinguishes a failure of the operation, reported by a rule or a good
// answer, from one of the probe, such as a wrong password.
func failed(o poll.Outcome) bool {
	seen := o.Observation
	return seen != nil && (o.Verdict.Rule != "" || seen.Good() && !seen.Following.Start)
}

// took returns how long the operation ran, by the times in its last answer.
func (r *Recorder) took(ctx context.Context, o *status.Observation) (time.Duration, error) {
	env := status.Environment(o)
	env.Context = ctx
	started, err := instantOf(env, "started-at", r.startedAt)
	if err != nil {
		return 0, err
	}
	finished, err := instantOf(env, "finished-at", r.finishedAt)
	if err == nil && finished.Before(started) {
		err = fmt.Errorf("it finished at %s, before it started at %s", finished.Format(time.RFC3339), started.Format(time.RFC3339))
	}
	return finished.Sub(started), err
}

func instantOf(env *expr.Env, name string, e *expr.Expr) (at time.Time, err error) {
	value := e.Eval(env).Value()
	if !value.Exists() {
		return at, fmt.Errorf("--%s %s: %s", name, e, value.Reason)
	}
	if at, err = instant(value.Text()); err != nil {
		return at, fmt.Errorf("--%s %s: %w", name, e, err)
	}
	return at, nil
}

// instant parses RFC 3339, or a number of seconds or milliseconds since 1970.
func instant(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	n := math.NaN() // which null leaves alone
	if err := json.Unmarshal([]byte(text), &n); err != nil || !(n >= 0 && n < 1e14) {
		return time.Time{}, fmt.Errorf("%.40q is neither a time such as 2026-01-02T15:04:05Z nor a number of seconds since 1970", text)
	}
	if n >= 1e11 { // as seconds the year 5138, as milliseconds 1973
		n /= 1e3
	}
	return time.UnixMicro(int64(math.Round(n * 1e6))).UTC(), nil
}
