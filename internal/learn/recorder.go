package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Recorder learns from the past runs of an operation, and records the current run for later runs. An error in
// the history never makes a wait fail, but becomes a warning. If the Recorder is nil, the methods Observe, End,
// Save and Warnings do nothing.
type Recorder struct {
	history History       // Dir is "" if the history cannot be used
	Name    string        // the name of the operation
	age     time.Duration // the age of the operation at the start of the wait
	isList  bool          // the operation is a list, which ends with its last element
	// startedAt and finishedAt select the times in the last response when the operation started and finished. They
	// are nil unless the user set --started-at and --finished-at.
	startedAt, finishedAt *expr.Expr
	Model                 *fit.Model // nil if no past run has finished

	warnings []string
	run      *Record // the record of this run; nil before the end, or if there is nothing to record

	latest bracket       // the bracket after the last attempt or, for a list, after the last request for the list
	status status.Status // the last verdict; for a list, the verdict on the last element that ended
	end    bracket       // the value of latest when status last changed
	failed poll.Outcome  // the outcome of the last element that failed
	broken bool          // the wait for the list itself failed
}

// A bracket contains two ages of the operation. If an attempt observed the end of the operation, the operation
// ended between these ages.
type bracket struct {
	unfinished time.Duration // the start of the last earlier attempt that found the operation unfinished, or 0
	finished   time.Duration // the end of the current attempt
	next       time.Duration // the value of unfinished for the next attempt
}

// Observe processes an event of the run, including the events of a list and its elements. The end of a single
// operation must be passed to End instead.
func (r *Recorder) Observe(ev poll.Event) {
	switch {
	case r == nil:
	case ev.Kind == poll.EventAttempt && !ev.Observation.Stopped():
		r.observeAttempt(ev)
	case !r.isList:
	case ev.Kind == poll.EventEnd && ev.Outcome.Ending == poll.Failed:
		r.failed = *ev.Outcome
		r.broken = r.broken || ev.N == 0
	case ev.Kind == poll.EventGoal:
		r.endList(*ev.Summary)
	}
}

// observeAttempt processes an attempt for the operation, or a request for a list. Later events contain the verdicts
// on the elements of the list. If a threshold requires several consecutive attempts with the same verdict, the first
// of these attempts observed the end. The verdict THROTTLED does not show whether the operation has ended.
func (r *Recorder) observeAttempt(ev poll.Event) {
	verdict := ev.State.Status
	if ofResult(ev.Observation) {
		verdict = status.Success
	}
	isNew := verdict != r.status
	if r.isList {
		isNew = ev.N > 0 && ev.State.Streak == 1 && verdict.Ends()
	}
	if !r.isList || ev.N == 0 {
		r.latest = bracket{r.latest.next, ev.Age(), r.latest.next}
		if verdict == status.NotReady {
			r.latest.next = max(0, ev.Age()-ev.Took)
		}
	}
	if isNew {
		r.status, r.end = verdict, r.latest
	}
}

// endList processes the end of a list. A list ends when all elements have ended, or when enough elements have
// succeeded. If an element failed, but the wait for another element was given up, the run counts as a timeout,
// because the duration of the whole list is unknown.
func (r *Recorder) endList(s poll.Summary) {
	o := poll.Outcome{Ending: s.Ending, State: poll.State{Attempts: s.Attempts}}
	if o.Ending == poll.Failed {
		o.Verdict, o.Observation = r.failed.Verdict, r.failed.Observation
		if s.Endings[poll.TimedOut]+s.Endings[poll.AttemptsExhausted]+s.Endings[poll.ThrottledTooLong] > 0 {
			o.Ending = poll.TimedOut
		}
	}
	if !r.broken {
		r.End(context.Background(), o)
	}
}

// Save adds the run to the history after it has ended. It may wait for another process that uses the history, so
// callers should print the result of the run first.
func (r *Recorder) Save(ctx context.Context) error {
	if r == nil || r.run == nil || r.history.Dir == "" {
		return nil
	}
	if err := r.history.Append(ctx, r.Name, *r.run); err != nil {
		return fmt.Errorf("this run is not recorded: %w", err)
	}
	return nil
}

// Warnings returns warnings about the history, except errors of Save.
func (r *Recorder) Warnings() []string {
	if r == nil {
		return nil
	}
	return r.warnings
}

// ofResult reports whether o is the response to a request for the result of an operation that had already ended. If
// o is nil, ofResult returns false.
func ofResult(o *status.Observation) bool {
	return o != nil && o.Result
}

// End sets the record of the run, which has the outcome o. The record remains nil if o contains no information about
// the operation, or if an earlier process observed the end. It also remains nil if the first attempt found an
// operation of age greater than 0 finished, unless r.finishedAt is set.
func (r *Recorder) End(ctx context.Context, o poll.Outcome) {
	if r == nil {
		return
	}
	outcome := remembered(o)
	run := &Record{End: time.Now(), Outcome: outcome}
	unfinished := r.latest.next
	if outcome.Finished() {
		unfinished, run.Hi = r.end.unfinished, words.Sum(r.age, r.end.finished)
	}
	if unfinished > 0 {
		run.Lo = words.Sum(r.age, unfinished)
	}
	switch {
	case outcome == "" || outcome.Finished() && !r.status.Ends():
		return
	case !outcome.Finished():
	case r.finishedAt != nil:
		if took, err := r.took(ctx, o.Observation); err == nil {
			run.Lo, run.Hi = took, took
		} else {
			r.warnings = append(r.warnings, fmt.Sprintf("the duration is known only from the attempts: %v", err))
		}
	case r.age > 0 && r.end.unfinished == 0:
		// The first attempt found the operation finished, so it may have ended at any earlier age.
		return
	}
	r.run = run
}

// remembered returns the outcome that the history keeps for o. If the wait was given up before the operation
// ended, the outcome is Timeout, whatever the limit was. If the wait was interrupted, the outcome is Interrupted.
// The result is "" if the run contains no information about the operation, because no attempt was made or the
// probe failed.
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
		poll.TimedOut: Timeout, poll.AttemptsExhausted: Timeout, poll.ThrottledTooLong: Timeout,
		poll.Interrupted: Interrupted,
	}[o.Ending]
}

// failed reports whether the operation itself failed, according to a rule or to a successful response. It returns
// false if the probe failed, for example because of a wrong password, or if the wait was ended from outside.
func failed(o poll.Outcome) bool {
	seen := o.Observation
	return seen != nil && o.Verdict.Status == status.Error && (o.Verdict.Rule != "" || seen.Good() && !seen.Start)
}

// took returns the duration of the operation, computed from the times in o, its last response. It returns an error
// if a time is missing, or if the operation finished before it started.
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

// instantOf returns the time that e, the expression given for the flag called name, selects. It returns an error if
// e selects no value, or a value that is not a time.
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

// instant parses a time in RFC 3339 format, or a number of seconds or milliseconds since 1970.
func instant(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	n := math.NaN() // remains NaN if text is null
	if err := json.Unmarshal([]byte(text), &n); err != nil || !(n >= 0 && n < 1e14) {
		return time.Time{}, fmt.Errorf("%.40q is neither a time such as 2026-01-02T15:04:05Z nor a number of seconds since 1970", text)
	}
	if n >= 1e11 { // in milliseconds: 1e11 seconds would be in the year 5138, and 1e11 milliseconds are in 1973
		n /= 1e3
	}
	return time.UnixMicro(int64(math.Round(n * 1e6))).UTC(), nil
}

// Flags holds the values of the flags about learning. In the zero value, none of these flags is set.
type Flags struct {
	Learn                 string // the name of the operation; "" to learn nothing
	cost                  cost
	age                   time.Duration
	history               string
	startedAt, finishedAt string
}

// A cost is the cost of an attempt: either a share of the median run, from 0 to 1, or a delay. The other field is 0.
type cost struct {
	share float64
	delay time.Duration
}

// Table returns the command-line flags that set the fields of a [Flags].
func Table() argv.Flags {
	return argv.Flags{
		{Name: "learn", HasVariable: true, Value: "NAME", Distinctive: true, Set: argv.Parsed(parseName, func(f *Flags, v string) { f.Learn = v }), Usage: "remember how long runs take, and poll when they end"},
		{Name: "poll-cost", HasVariable: true, Value: "C", Default: "1%", Distinctive: true, Set: argv.Parsed(parseCost, func(f *Flags, v cost) { f.cost = v }), Needs: "learn", Usage: "accept this delay to save an attempt; % of a run, or D"},
		{Name: "age", Value: "D", Default: "0", Set: argv.Parsed(argv.ParseDuration, func(f *Flags, v time.Duration) { f.age = v }), Needs: "learn", Usage: "how long the operation has been running"},
		{Name: "history", HasVariable: true, Value: "DIR", Default: "~/.local/state/poll/history", WholeRun: true, Set: argv.Text(func(f *Flags, v string) { f.history = v }), Needs: "learn", Usage: "the directory of past runs"},
		{Name: "started-at", Value: "EXPR", Distinctive: true, Set: argv.Text(func(f *Flags, v string) { f.startedAt = v }), Needs: "learn", Usage: "when the operation started, from its last response"},
		{Name: "finished-at", Value: "EXPR", Distinctive: true, Set: argv.Text(func(f *Flags, v string) { f.finishedAt = v }), Needs: "started-at", Usage: "when the operation ended, from its last response"},
	}
}

// parseName returns name, together with an error if [CheckName] rejects name.
func parseName(name string) (string, error) { return name, CheckName(name) }

// parseCost parses a cost: either a share of the median run from 0.0001% to 100%, such as "1%", or a delay longer
// than 0, such as "2s".
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

// Options returns the options for learning a schedule with waits from base to maxWait. A limit of 0 does not apply.
func (f *Flags) Options(base, maxWait time.Duration) fit.Options {
	return fit.Options{CostShare: f.cost.share, Cost: f.cost.delay, Age: f.age, Base: base, MaxWait: maxWait}
}

// Store returns the history in the directory that --history names, or else in the user's state directory. The
// directory need not exist. Store returns an error if the environment of l names no state directory.
func (f *Flags) Store(l *argv.Line) (History, error) {
	if f.history != "" {
		return History{Dir: f.history}, nil
	}
	dir, err := system.StateDir(l.LookupEnv.Get, "history")
	return History{Dir: dir}, err
}

// Recorder returns a recorder for the operation called f.Learn. It reads the past runs, and learns a model from them
// with the options o. isList is true if the operation is a list. compile compiles text, the expression given for
// flag. Recorder returns an error if such an expression is missing or invalid. If the past runs cannot be read,
// Recorder instead adds a warning to the result.
func (f *Flags) Recorder(l *argv.Line, o fit.Options, isList bool,
	compile func(l *argv.Line, flag, text string) (*expr.Expr, error)) (*Recorder, error) {
	r := &Recorder{Name: f.Learn, age: f.age, isList: isList}
	var err error
	if f.startedAt != "" {
		if f.finishedAt == "" {
			return nil, argv.Usagef("%s needs --finished-at, too: together they say how long it took", l.Origin("started-at"))
		}
		if r.startedAt, err = compile(l, "started-at", f.startedAt); err == nil {
			r.finishedAt, err = compile(l, "finished-at", f.finishedAt)
		}
		if err != nil {
			return nil, err
		}
	}
	past, problem := Past{}, "nothing is learned"
	if r.history, err = f.Store(l); err == nil {
		past, err = r.history.Fit(f.Learn, o)
		problem = "past runs cannot be read"
	}
	r.Model, r.warnings = past.Model, past.Warnings
	if err != nil {
		r.warnings = append(r.warnings, problem+": "+err.Error())
		r.history.Dir = ""
	}
	return r, nil
}
