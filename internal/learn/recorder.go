package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Recorder learns from past runs of an operation, and remembers this run for the
// next. An error about the history never fails the wait: it becomes a warning. A nil
// Recorder does nothing.
type Recorder struct {
	History History       // has no directory if it cannot be used
	Name    string        // of the operation
	Age     time.Duration // of the operation when the wait starts it, or else itself starts
	IsList  bool          // the operation ends with the last of its elements
	// StartedAt and FinishedAt read the times of the operation from its last response; nil if not given.
	StartedAt, FinishedAt *expr.Expr
	Model                 *fit.Model // nil if there is no past run

	warnings []string
	run      *Record // of this run; nil if there is nothing to record

	latest bracket       // of the last attempt, or the last request for the list
	status status.Status // the last verdict; of a list, that on the last element that has ended
	end    bracket       // latest, when status was new
	failed poll.Outcome  // of the last element that has failed
	broken bool          // the list could not be waited for
}

// A bracket holds the end of an operation, if an attempt has seen that. Its times are ages of the
// operation.
type bracket struct {
	unfinished time.Duration // when the last attempt before began that saw it unfinished, 0 for none
	finished   time.Duration // when the attempt ended
	next       time.Duration // unfinished, for the next attempt
}

// Read reads the past runs, and fits the Model to them.
func (r *Recorder) Read(o fit.Options) {
	past, err := r.History.Fit(r.Name, o)
	r.warnings, r.Model = append(r.warnings, past.Warnings...), past.Model
	if err != nil {
		r.Disable("past runs cannot be read", err)
	}
}

// Disable makes the Recorder record nothing, with a warning.
func (r *Recorder) Disable(what string, err error) {
	r.warnings = append(r.warnings, what+": "+err.Error())
	r.History.Dir = ""
}

// Observe takes an event of the run, or of a list and its elements. The end of one that is no
// list comes to End.
func (r *Recorder) Observe(ev poll.Event) {
	switch {
	case r == nil:
	case ev.Kind == poll.EventAttempt && !ev.Observation.Stopped():
		r.observeAttempt(ev)
	case !r.IsList:
	case ev.Kind == poll.EventEnd && ev.Outcome.Ending == poll.Failed:
		r.failed = *ev.Outcome
		r.broken = r.broken || ev.N == 0
	case ev.Kind == poll.EventGoal:
		r.endList(*ev.Summary)
	}
}

// observeAttempt takes an attempt at the operation, or a request for a list, whose elements are judged
// next. If a threshold requires several attempts, the first of them saw the end. THROTTLED tells
// nothing.
func (r *Recorder) observeAttempt(ev poll.Event) {
	verdict := ev.State.Status
	if ofResult(ev.Observation) {
		verdict = status.Success
	}
	isNew := verdict != r.status
	if r.IsList {
		isNew = ev.N > 0 && ev.State.Streak == 1 && verdict.Ends()
	}
	if !r.IsList || ev.N == 0 {
		r.latest = bracket{r.latest.next, ev.Age(), r.latest.next}
		if verdict == status.NotReady {
			r.latest.next = max(0, ev.Age()-ev.Took)
		}
	}
	if isNew {
		r.status, r.end = verdict, r.latest
	}
}

// End takes how the run ended. Nothing is learned if an earlier process has seen the end: no
// attempt of this one has.
func (r *Recorder) End(ctx context.Context, o poll.Outcome) {
	if r != nil {
		r.run = r.record(ctx, o)
	}
}

// endList ends a list, whose run is over once all elements have ended, or as many have succeeded
// as had to. If an element has failed and another was given up, it is not known how long all of
// them would have taken.
func (r *Recorder) endList(s poll.Summary) {
	o := poll.Outcome{Ending: s.Ending, State: poll.State{Attempts: s.Attempts}}
	if o.Ending == poll.Failed {
		o.Verdict, o.Observation = r.failed.Verdict, r.failed.Observation
		if s.Endings[poll.TimedOut]+s.Endings[poll.AttemptsExhausted]+s.Endings[poll.HintTooLong] > 0 {
			o.Ending = poll.TimedOut
		}
	}
	if !r.broken {
		r.run = r.record(context.Background(), o)
	}
}

// Save remembers the run that has ended. It comes after the result, since other processes may
// hold the history.
func (r *Recorder) Save(ctx context.Context) error {
	if r == nil || r.run == nil || r.History.Dir == "" {
		return nil
	}
	if err := r.History.Append(ctx, r.Name, *r.run); err != nil {
		return fmt.Errorf("this run is not recorded: %w", err)
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

// ofResult reports whether an attempt looked for the result of an operation
// that was known to be done.
func ofResult(o *status.Observation) bool {
	return o != nil && o.Result
}

// record returns what to remember of a run, nil for nothing.
func (r *Recorder) record(ctx context.Context, o poll.Outcome) *Record {
	outcome := remembered(o)
	run := &Record{End: time.Now(), Outcome: outcome}
	unfinished := r.latest.next
	if outcome.Finished() {
		unfinished, run.Hi = r.end.unfinished, words.Sum(r.Age, r.end.finished)
	}
	if unfinished > 0 {
		run.Lo = words.Sum(r.Age, unfinished)
	}
	switch {
	case outcome == "" || outcome.Finished() && !r.status.Ends():
		return nil
	case !outcome.Finished():
		return run
	case r.FinishedAt != nil:
		took, err := r.took(ctx, o.Observation)
		if err == nil {
			run.Lo, run.Hi = took, took
			return run
		}
		r.warnings = append(r.warnings, fmt.Sprintf("the duration is known only from the attempts: %v", err))
	case r.Age > 0 && r.end.unfinished == 0:
		// The first attempt found it finished: it may have ended at any earlier age.
		return nil
	}
	return run
}

// remembered returns the outcome for the history, "" if the run tells nothing
// about the operation. A wait that stopped before the end, for whatever reason, is
// a timeout.
func remembered(o poll.Outcome) Outcome {
	switch {
	case ofResult(o.Observation), o.Ending == poll.Succeeded:
		return Success
	case o.Ending == poll.Failed && failed(o):
		return Failure
	case o.State.Attempts == 0:
		return ""
	}
	return map[poll.Ending]Outcome{
		poll.TimedOut: Timeout, poll.AttemptsExhausted: Timeout, poll.HintTooLong: Timeout,
		poll.Interrupted: Interrupted,
	}[o.Ending]
}

// failed distinguishes a failure of the operation, reported by a rule or a good
// answer, from one of the probe, such as a wrong password, and from an end from outside.
func failed(o poll.Outcome) bool {
	seen := o.Observation
	return seen != nil && o.Verdict.Status == status.Error && (o.Verdict.Rule != "" || seen.Good() && !seen.Start)
}

// took returns how long the operation ran, by the times in its last answer.
func (r *Recorder) took(ctx context.Context, o *status.Observation) (time.Duration, error) {
	env := status.Environment(o)
	env.Context = ctx
	started, err := instantOf(env, "started-at", r.StartedAt)
	if err != nil {
		return 0, err
	}
	finished, err := instantOf(env, "finished-at", r.FinishedAt)
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
