package poll

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A wait is one target: the operation and the state of waiting for the operation. Its methods are the rules of
// waiting. They do not depend on other targets, origins or goroutines.
type wait struct {
	standing
	n          int // the number in a group, 0 outside a group
	run        *run
	probe      Probe         // of the next attempt
	planned    Plan          // of probe
	result     Probe         // the probe for the result after SUCCESS, nil if the response has the result
	done       *judgement    // the verdict on the operation in a wait for its result; otherwise nil
	budget     time.Duration // the time from Start to the deadline
	element    *element      // the target in a list, nil outside a list
	lead       *wait         // the lead of the list of the element, nil outside a list
	wasPending bool          // a response was not a SUCCESS yet
	coach      *coach.Coach
	// classify evaluates a response in place of the Rules: for a list, or for a result. Nil means the Rules.
	classify           func(context.Context, *judgement) status.Verdict
	list               *list      // the list if this wait is its lead; otherwise nil
	complete           *judgement // the last attempt that ended by itself
	final              *Outcome   // the result of Finalize for a SUCCESS that ends the wait; nil before that
	stream             streamAttempt
	hopeless           error  // why no attempt can succeed
	unsent             bool   // the start request was not sent, for the reason in hopeless
	ignored            string // a note about a RetryAfter value that is not a wait
	closedPastDeadline string // why the origin is closed past the deadline, for people
}

// A run has the parts that all waits of a loop share.
type run struct {
	caller, ctx context.Context // ctx is done with caller, at the deadline, or once the goal is decided
	start       time.Time
	deadline    time.Time // zero = none
	rand        *rand.Rand
	stepping    bool      // a Step: the loop makes one attempt if an attempt is due
	stepEnd     time.Time // the latest end of the attempt of a Step, zero without a limit
	invalid     error     // why the group cannot run, nil for a valid group
	// news emits the event of a message from the goroutine of the attempt, and reports whether the consumer wants
	// further events.
	news func(Event) bool
}

// isOver reports whether the run has ended: at the deadline, by the caller or the consumer, or because its goal
// is decided.
func (r *run) isOver() bool { return r.ctx.Err() != nil }

// newWait returns the wait of p in a run, with the defaults of p set and its Past restored.
func newWait(r *run, p Poller) *wait {
	if p.Schedule == nil {
		p.Schedule = backoff.Cap(nil, backoff.DefaultMaxWait)
	}
	if p.Throttled == nil {
		p.Throttled = backoff.Throttled(p.Schedule)
	}
	p.SuccessThreshold.Times, p.ErrorThreshold.Times = cmp.Or(p.SuccessThreshold.Times, 1), cmp.Or(p.ErrorThreshold.Times, 1)
	if p.Rand == nil {
		p.Rand = r.rand
	}
	none := &judgement{}
	w := &wait{standing: standing{p: p, last: none}, run: r, complete: none, coach: new(coach.Coach)}
	if p.Probe != nil { // an element has no probe
		w.use(p.Probe)
		w.p.Target = cmp.Or(p.Target, w.planned.Name)
	}
	if p.Past != nil {
		w.resumeFrom(*p.Past, time.Now())
	}
	if w.p.Start.IsZero() {
		w.p.Start = earliest(r.start, w.Start)
	}
	if w.Start.IsZero() {
		w.Start = w.p.Start
	}
	if w.deadline = r.deadline; p.Timeout != 0 {
		w.deadline = earliest(w.deadline, w.p.Start.Add(p.Timeout))
	}
	w.budget = w.deadline.Sub(w.p.Start)
	return w
}

// maxUnobserved limits the pause between two runs: if the pause is longer than the planned wait by more than
// maxUnobserved, a verdict does not count as having held during the pause.
const maxUnobserved = 2 * time.Second

// resumeFrom restores the State of an earlier run. If the clock of that run was ahead, the waits do not become
// longer than planned.
func (w *wait) resumeFrom(past State, now time.Time) {
	w.State = past
	if w.Ended() {
		w.Reason = cmp.Or(w.Reason, "it had "+string(w.Ending)+" before")
	}
	times := []*time.Time{&w.Start, &w.Began, &w.Last, &w.Heard, &w.Since, &w.Changed, &w.Listed}
	if w.Evidence != nil {
		w.Evidence = new(*w.Evidence)
		times = append(times, &w.Evidence.At)
	}
	for _, t := range times {
		if t.After(now) {
			*t = now
		}
	}
	seen := w.Last
	if w.Heard.After(seen) {
		seen = w.Heard
	}
	if !seen.IsZero() && now.Sub(seen) > max(w.Previous, w.Due.Sub(seen))+maxUnobserved { // nobody observed the operation during the pause
		w.Since = time.Time{}
	}
	w.Attempts = min(max(w.Attempts, 0), mostCounted)
	w.Sent = min(w.Sent, w.Attempts)
	if w.Hint != nil && now.Sub(w.Last) >= w.Hint.Wait {
		w.Hint = nil
	}
	longest := w.Previous
	if w.Hint != nil {
		longest = max(longest, w.Hint.Wait+w.Hint.Wait/10)
	}
	if latest := now.Add(words.Sum(w.p.InitialDelay, longest)); w.Due.After(latest) {
		w.Due, w.Reserved = latest, false // the limiter decides again
	}
	w.last = &judgement{verdict: status.Verdict{Status: w.Status, Reason: w.Reason}}
}

var (
	errMayHaveStarted = errors.New("the operation may have started: the request that starts it was sent, and its answer is not known")
	errNoPosition     = errors.New("the operation has been started, and this probe cannot go on with it")
	errNoProbe        = errors.New("there is no probe")
)

// open prepares the first attempt. It returns the ending if no attempt can succeed, and otherwise "".
func (w *wait) open() Ending {
	w.hopeless = w.prepare()
	f, ok := errors.AsType[*status.Failure](w.hopeless)
	switch {
	case ok:
		w.last.observation = &status.Observation{Kind: status.KindCommand, Failure: f}
		return CannotRun
	case w.hopeless != nil:
		return Failed
	}
	return ""
}

// prepare restores the position of an earlier run. It returns the reason why no attempt can succeed, or nil.
func (w *wait) prepare() error {
	switch {
	case w.run.invalid != nil:
		return w.run.invalid
	case w.p.Elements != nil && w.list == nil:
		return errors.New("only a group waits for the elements of an answer")
	}
	if err := cmp.Or(w.p.validate(), w.p.Elements.validate(), w.p.Rules.Validate()); err != nil {
		return err
	}
	if w.probe == nil {
		return errNoProbe
	}
	if err := cmp.Or(w.checkStream(), w.planned.Invalid); err != nil {
		return err
	}
	if resume := w.planned.Resume; resume != nil && len(w.Position) > 0 {
		p, err := resume(w.Position)
		if err != nil {
			return fmt.Errorf("go on with the wait: %w", err)
		}
		w.use(p)
	}
	if !w.Began.IsZero() && w.planned.Once {
		return errNoPosition
	}
	if w.Began.IsZero() && !w.planned.Once {
		w.Began = w.Start
	}
	return nil
}

// use sets the probe of the next attempt to p.
func (w *wait) use(p Probe) { w.probe, w.planned = p, p.Plan() }

// begin counts an attempt that starts now.
func (w *wait) begin() {
	w.Attempts++
	w.Due, w.Reserved = time.Time{}, false
}

// isDeadline reports whether the deadline is at or before a time. Without a deadline it returns false.
func (w *wait) isDeadline(at time.Time) bool { return !w.deadline.IsZero() && !at.Before(w.deadline) }

// context returns the context of an attempt. It is also done at the wait's deadline and, unless limit is 0,
// after limit.
func (w *wait) context(limit time.Duration) (context.Context, context.CancelFunc) {
	ends, why := w.deadline, ErrDeadline
	if own := time.Now().Add(limit); limit > 0 && (ends.IsZero() || own.Before(ends)) {
		ends, why = own, ErrAttemptTimeout
	}
	ctx := w.run.ctx
	if d, ok := ctx.Deadline(); ends.IsZero() || ok && !ends.Before(d) {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, ends, why)
}

// look runs one attempt, and returns the observation and the duration. The time for evaluating the response is
// limited separately. tell evaluates the messages of a stream. AttemptTimeout limits the attempt. For a stream
// of an HTTP probe it limits only the time until the header of each request.
func (w *wait) look(pace *paced, tell func(context.Context, status.Observation) (enough bool)) (status.Observation, time.Duration) {
	var limit time.Duration
	if !w.run.stepEnd.IsZero() {
		limit = max(time.Until(w.run.stepEnd), 1)
	}
	ctx, cancel := w.context(limit)
	defer cancel()
	limits := &limits{Attempt: request.Attempt{Anew: w.stream.pending}, continues: w.planned.continues}
	if w.planned.isHTTP && w.planned.streams {
		limits.Timeout = w.p.AttemptTimeout
	} else if w.p.AttemptTimeout > 0 {
		clock, stop := newClock(ctx, w.p.AttemptTimeout)
		defer stop()
		if ctx = clock; pace != nil {
			pace.clock = clock
		}
	}
	if pace != nil {
		limits.Pace = pace
	}
	ctx, stop := w.listen(ctx, w.planned.Once)
	defer stop()
	if err := w.announce(); err != nil {
		return status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: err.Error(), Err: err}}, 0
	}
	begun := time.Now()
	a := Attempt{
		Number: w.Attempts, Elapsed: begun.Sub(w.Start), Previous: w.Status, LastLook: w.LastLook, NoCache: w.Evidence != nil, Accept: w.p.Rules.Accept,
		limits: limits,
	}
	if tell != nil {
		a.Tell = func(o status.Observation) bool { return tell(ctx, o) }
	}
	r := w.probe.Check(ctx, a)
	took := time.Since(begun)
	if w.result = r.Result; r.Next != nil {
		if w.use(r.Next); w.done == nil { // a later run checks the operation before the result
			w.Position = r.Position
		}
	}
	if _, isSent := limits.started.Load(w.planned.start); isSent && w.planned.Once { // a probe has left out Report.Next, or has made two attempts
		w.use(impossible{w.planned.Name, errNotWrapped})
		r.Failure = &status.Failure{Kind: status.FailureMayHaveStarted, Reason: errNotWrapped.Error(), Err: errNotWrapped}
	}
	w.ended(ctx, &r.Observation)
	return r.Observation, took
}

// announce passes the State to Starting if the next request is to start the operation. If Starting fails,
// announce returns the error, and the request must not be sent.
func (w *wait) announce() error {
	if !w.planned.Once {
		return nil
	}
	w.Starting = true
	if w.p.Starting != nil {
		w.hopeless = w.p.Starting(w.State)
		w.unsent = w.hopeless != nil
		w.Starting = !w.unsent
	}
	return w.hopeless
}

// keptBody is the number of body bytes that a group keeps of a response that did not end a wait. The outcome
// needs no more bytes of the last response.
const keptBody = 8 << 10

// slim drops the parts of the last observation that the outcome does not need. Emitted events keep these parts.
func (w *wait) slim() {
	o := *w.last.observation
	o.Header, o.Remarks, o.Pages, o.Within, o.Output = nil, nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	w.last.observation = &o
}

// event returns an event of w with a kind, and with the fields that the kind needs.
func (w *wait) event(kind EventKind, now time.Time) Event {
	e := Event{
		Kind:        kind,
		Target:      w.p.Target,
		N:           w.n,
		MaxAttempts: w.p.MaxAttempts,
		At:          now,
		Elapsed:     now.Sub(w.Start),
		Deadline:    w.deadline,
		State:       w.State,
	}
	switch kind {
	case EventWait:
		e.Wait = max(0, w.Due.Sub(now))
	case EventAttempt, EventMessage:
		e.Observation, e.Verdict, e.Took = w.last.observation, w.last.verdict, w.last.took
		e.Threshold = w.threshold()
		if e.Verdict.Status == status.Error && !w.decided() { // a later attempt may succeed
			e.Verdict.Status = status.NotReady
		}
	}
	return e
}
