package poll

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A streamAttempt is the record of the current attempt and its messages.
type streamAttempt struct {
	begun       time.Time
	messages    int           // so far
	firstAfter  time.Duration // the time to the first message
	decided     bool          // by the last message
	pending     bool          // the last verdict ends the wait if it comes often or long enough
	countsSeen  bool          // the threshold counts matching lines, also with other lines between them
	isShown     bool          // the last message has an event
	isUncounted bool          // the last message is not counted by the coach
	hold        *time.Timer   // ends the attempt once its verdict has held; nil if no verdict has to hold
	nextEvent   time.Time     // when the next EventMessage may come, if messages come fast
}

// errConfirm ends an attempt whose stream has held its verdict long enough. A new stream then shows whether the
// verdict still holds.
var errConfirm = errors.New("it has held for long enough, and a new stream has to say so, too")

// use sets the probe of the next attempt to p.
func (w *wait) use(p Probe) { w.probe, w.planned = p, p.Plan() }

// isDeadline reports whether the deadline is at or before a time. Without a deadline it returns false.
func (w *wait) isDeadline(at time.Time) bool { return !w.deadline.IsZero() && !at.Before(w.deadline) }

// check runs one attempt, and returns the observation and the duration. evaluate evaluates the messages of a stream.
// AttemptTimeout limits the attempt. For a stream of an HTTP probe it limits only the time until the header of each
// request.
func (w *wait) check(pace *paced, evaluate func(context.Context, status.Observation) (enough bool)) (status.Observation, time.Duration) {
	ctx, cancel := w.context(w.stepLeft())
	defer cancel()
	limits := &limits{Attempt: request.Attempt{Anew: w.stream.pending}, continues: w.planned.continues}
	if pace != nil {
		limits.Pace = pace
	}
	if limit := w.p.AttemptTimeout; w.planned.isHTTP && w.planned.streams {
		limits.Timeout = limit
	} else if limit > 0 {
		clock, stop := newClock(ctx, limit)
		defer stop()
		if ctx = clock; pace != nil {
			pace.clock = clock
		}
	}
	ctx, stop := w.listen(ctx)
	defer stop()
	if err := w.announce(); err != nil {
		return status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: err.Error(), Err: err}}, 0
	}
	begun := time.Now()
	a := Attempt{
		Number: w.Attempts, Elapsed: begun.Sub(w.Start), Previous: w.Status, LastAttempt: w.LastAttempt, NoCache: w.Evidence != nil, Accept: w.p.Rules.Accept,
		limits: limits,
	}
	if evaluate != nil {
		a.Message = func(o status.Observation) bool { return evaluate(ctx, o) }
	}
	r := w.probe.Check(ctx, a)
	took := time.Since(begun)
	w.follow(&r, limits)
	w.ended(ctx, &r.Observation)
	return r.Observation, took
}

// stepLeft returns the time that is left for the attempt of a Step, 0 without a limit.
func (w *wait) stepLeft() time.Duration {
	if w.run.stepEnd.IsZero() {
		return 0
	}
	return max(time.Until(w.run.stepEnd), 1)
}

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

// follow sets the probes of the next attempt and of the result. A start is not sent again by a probe that has left out
// Report.Next, or that has made two attempts: the report is then a failure.
func (w *wait) follow(r *Report, limits *limits) {
	if w.result = r.Result; r.Next != nil {
		if w.use(r.Next); w.done == nil { // a later run checks the operation before the result
			w.Position = r.Position
		}
	}
	if _, isSent := limits.started.Load(w.planned.start); isSent && w.planned.Once {
		w.use(impossible{w.planned.Name, errNotWrapped})
		r.Failure = &status.Failure{Kind: status.FailureMayHaveStarted, Reason: errNotWrapped.Error(), Err: errNotWrapped}
	}
}

// listen starts the record of an attempt, and returns its context. No other attempt can confirm the verdict of a request
// that is sent once, so its stream is not ended early.
func (w *wait) listen(ctx context.Context) (attempt context.Context, stop func()) {
	w.stream = streamAttempt{begun: time.Now(), pending: w.stream.pending, nextEvent: w.stream.nextEvent}
	if w.stream.countsSeen = w.countsSeen(); w.stream.countsSeen {
		w.Streak = 0 // a program that is run again may print the same lines
	}
	if w.planned.Once || w.p.SuccessThreshold.For <= 0 && w.p.ErrorThreshold.For <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.stream.hold = time.AfterFunc(math.MaxInt64, func() { cancel(errConfirm) })
	return ctx, func() {
		w.stream.hold.Stop()
		cancel(nil)
	}
}

// countsSeen reports whether the threshold for SUCCESS counts lines: the rules for SUCCESS do not read a
// document.
func (w *wait) countsSeen() bool {
	readsDocument := func(r status.Rule) bool { return r.Status == status.Success && r.Expr.Reads(".", "isjson") }
	return w.planned.lines && w.p.SuccessThreshold.For <= 0 && !slices.ContainsFunc(slices.Concat(w.p.Rules.Own, w.p.Rules.Preset.All()), readsDocument)
}

// ended adjusts the observation of an attempt that ended without a deciding message.
func (w *wait) ended(ctx context.Context, o *status.Observation) {
	f := o.Failure
	if f != nil && context.Cause(ctx) == errConfirm {
		o.Failure = &status.Failure{Reason: errConfirm.Error(), Err: errConfirm}
	}
	o.Ended = o.Ended || w.stream.messages > 0 && o.Failure != nil && o.Failure.Kind == status.FailureTransient
}

// A clock is the context of an attempt, and limits the time that the attempt takes. The clock stands still while a
// request waits in a gate.
type clock struct {
	context.Context
	timer *time.Timer
	mu    sync.Mutex
	held  int           // how many requests wait in a gate
	left  time.Duration // the time left when the clock started last
	since time.Time     // when that was
}

// newClock starts a clock. The caller has to stop the clock.
func newClock(ctx context.Context, limit time.Duration) (c *clock, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c = &clock{Context: ctx, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(ErrAttemptTimeout) })
	return c, func() {
		c.timer.Stop()
		cancel(nil)
	}
}

// hold stops the clock while one more request waits in a gate. It returns the function that ends the wait. A nil clock limits
// nothing.
func (c *clock) hold() (release func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 && c.Err() == nil {
			c.since = time.Now()
			c.timer.Reset(c.left)
		}
	}
}

// Deadline returns when the attempt ends if no further request waits in a gate.
func (c *clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, _ := c.Context.Deadline()
	if c.held > 0 {
		return run, !run.IsZero()
	}
	return earliest(run, c.since.Add(c.left)), true
}

// toResult turns w into a wait for the result, and reports true, if the last attempt was SUCCESS and the result is in
// another document. The rules are about the operation, so any successful response is the result, and the verdict on the
// operation stays.
func (w *wait) toResult() bool {
	if w.list != nil || w.done != nil || w.Status != status.Success || !w.decided() {
		return false
	}
	w.done = w.last
	w.use(w.result)
	w.p.Rules, w.p.SuccessThreshold = status.Rules{Accept: w.p.Rules.Accept}, Threshold{Times: 1}
	w.classify, w.coach, w.Streak = w.classifyResult, new(coach.Coach), 0
	w.complete = &conclusion{observation: w.complete.observation, took: w.complete.took,
		verdict: status.Verdict{Status: status.NotReady, Reason: w.unfetched()}}
	return true
}

// classifyResult returns the verdict on the operation if the response is successful, and otherwise the verdict
// on the response with a reason that the result is missing.
func (w *wait) classifyResult(ctx context.Context, result *conclusion) status.Verdict {
	v := w.p.Rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.done.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason for a result that could not be fetched.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
}

// earliest returns the earlier of two times. A zero time does not count; the result is zero if both are zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sleep sleeps until the next attempt is due. It reports false if the run has ended, or if the deadline has come.
func (w *wait) sleep() bool {
	sleepUntil(w.run.ctx, earliest(w.deadline, w.Due))
	return w.run.ctx.Err() == nil && !w.isDeadline(time.Now())
}

// sleepUntil sleeps until a time, at most until ctx is done.
func sleepUntil(ctx context.Context, at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
