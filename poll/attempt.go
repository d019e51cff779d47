package poll

import (
	"context"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// An Attempt describes the attempt that a probe has to make. A probe that calls another probe must pass on
// its Attempt, or a modified copy, and the context of the attempt. An [HTTP] that receives neither does not belong
// to the wait. Its requests do not wait for the [Limiter], and each attempt may send its start request again.
type Attempt struct {
	Number   int           // number of the attempt, counting from 1
	Elapsed  time.Duration // time since the wait started
	Previous status.Status // status of the previous attempt; None for the first attempt
	// LastAttempt is true if there may not be enough time for another attempt.
	LastAttempt bool
	// NoCache is true if a response from a cache may be too old to count: it may predate the start of the
	// operation, or an earlier response that this attempt has to confirm. An [HTTP] then sends "Cache-Control:
	// no-cache".
	NoCache bool
	// Accept is a copy of the Accept field of the wait's Rules.
	Accept []int
	// Message, if not nil, evaluates one message of a stream. It returns true if the attempt has to end,
	// because the message decides the wait or because nobody receives the events any more. The Observation that
	// Check then returns is ignored. If Message never returned true, the end of the attempt has no effect on
	// the status, unless the attempt failed with an error that no further attempt can change. The next attempt
	// follows after a random wait, with a restarted schedule.
	//
	// Message may be called by only one goroutine at a time, and only until Check returns. Outside a [Group],
	// Message passes an event to the consumer of the events, on the goroutine that calls Message. If the
	// consumer depends on its own goroutine, Check must therefore call Message directly, and not on a new
	// goroutine.
	Message func(status.Observation) (decided bool)

	limits *limits // nil if the attempt does not belong to a running wait
}

// limits holds the settings that a wait applies to the requests of one attempt.
type limits struct {
	request.Attempt          // only the fields Pace, Timeout and Anew are set
	continues       bool     // the wait uses Report.Next, so an HTTP may start or follow an operation
	started         sync.Map // set of the start requests (request.Start) that the attempt has sent, except those that have to be sent again
}

// limitsKey is the key for the limits in the context of an attempt. An HTTP finds the limits in the context
// even if its caller passes it a newly created Attempt.
type limitsKey struct{}

// limitsOf returns the limits of the Attempt a. If a.limits is nil, limitsOf returns the limits in ctx, or nil
// outside a wait.
func limitsOf(ctx context.Context, a Attempt) *limits {
	if a.limits != nil {
		return a.limits
	}
	l, _ := ctx.Value(limitsKey{}).(*limits)
	return l
}

// message returns a.Message. If that is nil, message returns a function that accepts the first message as the
// response.
func (a Attempt) message() func(status.Observation) (enough bool) {
	if a.Message == nil {
		return func(status.Observation) bool { return true }
	}
	return a.Message
}

// attempt runs one attempt of w, and evaluates its response. If the result of the operation is in another document,
// the first request for the result belongs to the same attempt.
func (w *wait) attempt(ctx context.Context, pace *paced) {
	w.check(ctx, pace)
	if took := w.last.took; w.result != nil && w.toResult() {
		w.check(ctx, pace)
		w.last.took += took
	}
	w.noteEvidence() // before the events are emitted, because their States include the evidence
}

// finalize calls Poller.Finalize for the targets of w that have succeeded. The loop must not be locked, because
// Finalize may take long.
func (w *wait) finalize() {
	if w.p.Finalize == nil {
		return
	}
	for _, w := range w.all() {
		if w.Status == status.Success && w.decided() {
			w.final = new(w.p.Finalize(w.outcome(Succeeded)))
		}
	}
}

// check calls the probe, and evaluates its response. pace, which may be nil, delays the requests as the limiter
// requires.
//
// ctx limits the attempt, and so does AttemptTimeout. For an HTTP stream, AttemptTimeout limits only the time
// from each request to the response header. The deadline of a [Poller.Step] limits the attempt, too.
func (w *wait) check(ctx context.Context, pace *paced) {
	if end := w.run.stepEnd; !end.IsZero() {
		inTime, cancel := w.context(max(time.Until(end), 1))
		defer cancel()
		ctx = inTime
	}
	var timer *clock
	limits := &limits{Attempt: request.Attempt{Anew: w.planned.streams && w.isUnconfirmed()}, continues: w.planned.continues}
	if pace != nil {
		limits.Pace = pace
	}
	if limit := w.p.AttemptTimeout; w.planned.isHTTP && w.planned.streams {
		limits.Timeout = limit
	} else if limit > 0 {
		var stop func()
		timer, stop = newClock(ctx, limit)
		defer stop()
		if ctx = timer; pace != nil {
			pace.clock = timer
		}
	}
	if err := w.announce(); err != nil {
		w.last = &conclusion{observation: &status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: err.Error(), Err: err}}}
		return
	}
	ctx, stop := w.listen(ctx)
	defer stop()
	begun := time.Now()
	a := Attempt{
		Number: w.Attempts, Elapsed: begun.Sub(w.Start), Previous: w.Status, LastAttempt: w.LastAttempt, NoCache: w.Evidence != nil, Accept: w.rules.Accept,
		Message: func(o status.Observation) bool { return w.evaluateMessage(ctx, o, time.Since(begun)) },
		limits:  limits,
	}
	r := w.probe.Check(context.WithValue(ctx, limitsKey{}, limits), a)
	took := time.Since(begun)
	w.ended(ctx, &r.Observation)
	w.noteClosed(&r.Observation)
	evaluation := context.Context(timer)
	if !timer.restart(w.p.AttemptTimeout) { // the evaluation has the same time limit as the attempt
		inTime, cancel := w.context(w.p.AttemptTimeout)
		defer cancel()
		evaluation = inTime
	}
	w.follow(&r, limits)
	w.evaluateResponse(evaluation, r.Observation, took)
}

// context returns the context for an attempt. The context is done when the run ends, at the wait's deadline,
// and after limit unless limit is 0.
func (w *wait) context(limit time.Duration) (context.Context, context.CancelFunc) {
	ends, why := w.deadline, ErrDeadline
	if limit > 0 && (ends.IsZero() || limit < time.Until(ends)) {
		ends, why = time.Now().Add(limit), ErrAttemptTimeout
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

// ended adjusts the observation o after an attempt. If errConfirm ended the attempt, errConfirm becomes the
// Failure of o. If the attempt received messages before a transient failure, o counts as the end of a stream.
func (w *wait) ended(ctx context.Context, o *status.Observation) {
	f := o.Failure
	if f != nil && context.Cause(ctx) == errConfirm {
		o.Failure = &status.Failure{Reason: errConfirm.Error(), Err: errConfirm}
	}
	o.Ended = o.Ended || w.stream.messages > 0 && o.Failure != nil && o.Failure.Kind == status.FailureTransient
}

// noteClosed handles an observation o of an attempt that stopped because an origin is closed. If the origin
// stays closed until after the deadline, all targets of the wait end. Otherwise noteClosed sets o.RetryAfter to
// the time until the origin opens again.
func (w *wait) noteClosed(o *status.Observation) {
	if !o.Stopped() {
		return
	}
	e, ok := o.Failure.Err.(*throttledError)
	if ok && w.isDeadline(time.Now().Add(e.wait)) {
		w.endClosed(o.Failure.Reason)
	} else if ok {
		o.RetryAfter = &status.RetryAfter{Wait: e.wait, Source: e.Error()}
	}
}

// follow stores the probes for the next attempt and for the result from r, the report of an attempt. If the
// attempt has sent a start request, and the next attempt would send the same request again, follow turns the
// report into a failure. This happens if a probe around an HTTP drops Report.Next, checks the HTTP twice, or
// passes neither its context nor its Attempt to the HTTP. A successful response is a failure, too, if a probe around
// an HTTP returned it without sending the start request.
func (w *wait) follow(r *Report, limits *limits) {
	if w.result = r.Result; r.Next != nil {
		if w.setProbe(r.Next); w.operation == nil { // a later run checks the operation again before it fetches the result
			w.Position = r.Position
		}
	}
	if !w.planned.Once {
		return
	}
	o := meaning.Recorded(r.Observation)
	isGood := w.planned.isHTTP && o.Good() && !meaning.HTTPOf(&o).Due // an accepted redirect that was not followed is Due
	isForeign := isGood && (o.Start || o.Next != "")                  // an HTTP sent the request outside the attempt
	switch _, isSent := limits.started.Load(w.planned.start); {
	case isSent, isForeign:
		w.setProbe(failingProbe{w.planned.Name, errNotWrapped})
		r.Failure = &status.Failure{Kind: status.FailureMayHaveStarted, Reason: errNotWrapped.Error(), Err: errNotWrapped}
	case isGood:
		r.Observation = status.Observation{Failure: &status.Failure{Reason: "the probe returned a response without sending its start request"}}
	}
}

// setProbe sets p as the probe of the next attempt, and reads p's plan.
func (w *wait) setProbe(p Probe) {
	w.probe, w.planned = p, p.Plan()
	w.countsLines = w.planned.lines && w.success.For <= 0 && !readsDocument(w.rules)
}

// toResult starts the second phase of w if the last attempt ended the wait with SUCCESS and the result is in
// another document. It reports whether it has started the second phase. In that phase any successful response
// is the result. The rules do not apply, because they describe the operation.
func (w *wait) toResult() bool {
	if w.list != nil || w.operation != nil || w.Status != status.Success || !w.decided() {
		return false
	}
	w.phase = phase{
		rules: &status.Rules{Accept: w.rules.Accept}, success: &Threshold{Times: 1}, classify: w.classifyResult,
		coach: new(coach.Coach), complete: &conclusion{observation: w.complete.observation, took: w.complete.took}, operation: w.last,
	}
	w.setProbe(w.result)
	w.complete.verdict = status.Verdict{Status: status.NotReady, Reason: w.unfetched()}
	w.Streak = 0
	return true
}

// classifyResult evaluates result, the response that should contain the operation's result. If result is
// successful, classifyResult returns the earlier verdict on the operation. Otherwise it returns the verdict on
// result, with a reason that starts by stating that the operation's result could not be fetched.
func (w *wait) classifyResult(ctx context.Context, result *conclusion) status.Verdict {
	v := w.rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.operation.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason for NOT_READY while the operation is done, but its result has not been fetched.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
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

// restart gives the attempt a new time limit, which counts from now. It returns false if the attempt has timed
// out or ended, or if c is nil.
func (c *clock) restart(limit time.Duration) bool {
	if c == nil || !c.timer.Stop() {
		return false
	}
	c.left = limit
	c.hold()()
	return c.Err() == nil
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
