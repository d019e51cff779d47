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

// A streamAttempt describes the current attempt. Most fields matter only for a stream, whose messages are
// evaluated as they arrive.
type streamAttempt struct {
	begun       time.Time
	messages    int           // messages received so far
	firstAfter  time.Duration // time from begun to the first message
	decided     bool          // the last message ended the wait
	pending     bool          // the last verdict is SUCCESS or ERROR, but has not reached its threshold
	countsSeen  bool          // the threshold for SUCCESS counts lines; see wait.countsSeen
	isShown     bool          // the last message gets an event, unless it ends the attempt
	isUncounted bool          // the coach, which collects hints, has not seen the last message
	hold        *time.Timer   // ends the attempt once the verdict has lasted for its threshold's For; nil without such a threshold
	nextEvent   time.Time     // earliest time of the next EventMessage when messages arrive quickly
}

// errConfirm ends an attempt once the verdict on its stream has lasted as long as the threshold requires. The
// next attempt opens a new stream, which has to confirm the verdict.
var errConfirm = errors.New("the verdict has held for long enough, and a new stream has to confirm it")

// use makes p the probe of the next attempt, and reads p's plan.
func (w *wait) use(p Probe) { w.probe, w.planned = p, p.Plan() }

// isDeadline reports whether the time at is the wait's deadline or later. It returns false for a wait without a
// deadline.
func (w *wait) isDeadline(at time.Time) bool { return !w.deadline.IsZero() && !at.Before(w.deadline) }

// check runs one attempt. It returns the observation and the duration of the attempt. pace, which may be nil,
// delays the requests as the limiter requires. The function evaluate receives each message of a stream; if
// evaluate is nil, the first message is the response.
//
// AttemptTimeout limits the attempt. For an HTTP stream, it only limits the time from each request to the
// response header.
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
	r := w.probe.Check(context.WithValue(ctx, limitsKey{}, limits), a)
	took := time.Since(begun)
	w.follow(&r, limits)
	w.ended(ctx, &r.Observation)
	return r.Observation, took
}

// stepLeft returns the time left for an attempt that [Poller.Step] makes. It returns 0 if no such limit exists,
// and at least 1 ns otherwise.
func (w *wait) stepLeft() time.Duration {
	if w.run.stepEnd.IsZero() {
		return 0
	}
	return max(time.Until(w.run.stepEnd), 1)
}

// context returns the context for an attempt. The context is done when the run ends, at the wait's deadline,
// and after limit unless limit is 0.
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

// announce calls Poller.Starting with the current State before a request that starts the operation. If Starting
// returns an error, announce returns that error, and the request must not be sent. For any other request
// announce does nothing.
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

// follow takes the probes for the next attempt and for the result from r, the report of an attempt. If the
// attempt has sent a start request, and the next attempt would send the same request again, follow turns the
// report into a failure. This happens if a probe around an HTTP drops Report.Next or checks the HTTP twice.
func (w *wait) follow(r *Report, limits *limits) {
	if w.result = r.Result; r.Next != nil {
		if w.use(r.Next); w.done == nil { // a later run checks the operation again before it fetches the result
			w.Position = r.Position
		}
	}
	if _, isSent := limits.started.Load(w.planned.start); isSent && w.planned.Once {
		w.use(impossible{w.planned.Name, errNotWrapped})
		r.Failure = &status.Failure{Kind: status.FailureMayHaveStarted, Reason: errNotWrapped.Error(), Err: errNotWrapped}
	}
}

// listen resets the stream record for a new attempt. It returns the context of the attempt, and a function that
// releases the context. If a threshold has a For, a stream ends early once its verdict has lasted that long.
// The stream of a start request is the exception: the request is sent only once, so no further attempt could
// confirm the verdict.
func (w *wait) listen(ctx context.Context) (attempt context.Context, stop func()) {
	w.stream = streamAttempt{begun: time.Now(), pending: w.stream.pending, nextEvent: w.stream.nextEvent}
	if w.stream.countsSeen = w.countsSeen(); w.stream.countsSeen {
		w.Streak = 0 // the program may print the same lines again in the next attempt
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

// countsSeen reports whether the threshold for SUCCESS counts lines of a command's output, so that lines that
// no rule matches do not interrupt the count. It does if the threshold has no For, and if no rule for SUCCESS
// reads a JSON document.
func (w *wait) countsSeen() bool {
	readsDocument := func(r status.Rule) bool { return r.Status == status.Success && r.Expr.Reads(".", "isjson") }
	return w.planned.lines && w.p.SuccessThreshold.For <= 0 && !slices.ContainsFunc(slices.Concat(w.p.Rules.Own, w.p.Rules.Preset.All()), readsDocument)
}

// ended adjusts the observation o after an attempt. If errConfirm ended the attempt, that becomes the failure.
// If the attempt received messages before a transient failure, o counts as the end of a stream.
func (w *wait) ended(ctx context.Context, o *status.Observation) {
	f := o.Failure
	if f != nil && context.Cause(ctx) == errConfirm {
		o.Failure = &status.Failure{Reason: errConfirm.Error(), Err: errConfirm}
	}
	o.Ended = o.Ended || w.stream.messages > 0 && o.Failure != nil && o.Failure.Kind == status.FailureTransient
}

// A clock is the context of an attempt that enforces AttemptTimeout. The clock stops while any of the attempt's
// requests waits for the limiter.
type clock struct {
	context.Context
	timer *time.Timer
	mu    sync.Mutex
	held  int           // number of requests that wait for the limiter
	left  time.Duration // time that was left when the clock last started
	since time.Time     // time at which the clock last started
}

// newClock starts a clock that ends the attempt after limit. The caller must call stop to release the clock.
func newClock(ctx context.Context, limit time.Duration) (c *clock, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c = &clock{Context: ctx, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(ErrAttemptTimeout) })
	return c, func() {
		c.timer.Stop()
		cancel(nil)
	}
}

// hold stops the clock while a request waits for the limiter. The caller calls release after the wait. If
// several requests wait, the clock continues after the last release. On a nil clock hold does nothing.
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

// Deadline returns the time at which the attempt times out if no further request has to wait for the limiter.
// While a request waits, Deadline returns the deadline of the parent context.
func (c *clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, _ := c.Context.Deadline()
	if c.held > 0 {
		return run, !run.IsZero()
	}
	return earliest(run, c.since.Add(c.left)), true
}

// toResult switches w from the operation to the operation's result, if the last attempt ended the wait with
// SUCCESS and the result is in another document. It reports whether it switched. After the switch any
// successful response is the result: the rules, which apply to the operation, are dropped, and the verdict on
// the operation is kept.
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

// classifyResult returns the verdict on a response that should be the operation's result. If the response is
// successful, the verdict is the verdict on the operation. Otherwise the verdict is about the response, and its
// reason mentions that the result could not be fetched.
func (w *wait) classifyResult(ctx context.Context, result *conclusion) status.Verdict {
	v := w.p.Rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.done.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason for NOT_READY while the operation is done, but its result has not been fetched.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
}

// earliest returns the earlier of the times a and b. A zero time is ignored. If both are zero, the result is
// zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sleep sleeps until the next attempt is due, but no later than the deadline. It reports whether the attempt
// may start: false means that the run has ended or that the deadline has passed.
func (w *wait) sleep() bool {
	sleepUntil(w.run.ctx, earliest(w.deadline, w.Due))
	return w.run.ctx.Err() == nil && !w.isDeadline(time.Now())
}

// sleepUntil sleeps until the time at, or until ctx is done if that is earlier.
func sleepUntil(ctx context.Context, at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
