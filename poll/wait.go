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

// A wait is one target: what is waited for, and where that stands. Its methods are the
// rules of waiting, and know nothing of other targets, of places and of goroutines.
type wait struct {
	standing
	n          int // its number in a group, 0 for none
	run        *run
	probe      Probe         // of the next attempt
	planned    Plan          // of probe
	result     Probe         // where the result is if the last attempt was SUCCESS, nil if that has the result
	done       *judgement    // of the wait for a result: the verdict on the operation; nil of any other
	budget     time.Duration // how long it was to the deadline at first
	element    *element      // that it waits for, nil for none
	lead       *wait         // of the list that the element is in, nil for none
	wasPending bool          // an answer was not yet a SUCCESS
	coach      *coach.Coach
	// classify judges an answer: by the Rules, unless it is that of a list, or of a result.
	classify           func(context.Context, *judgement) status.Verdict
	list               *list      // that the wait leads, nil for none
	complete           *judgement // the last attempt that ended by itself
	final              *Outcome   // what Finalize made of a SUCCESS that ends the wait, nil for none
	stream             streamAttempt
	hopeless           error  // why no attempt can succeed
	unsent             bool   // the request that starts the operation, since hopeless
	ignored            string // what RetryAfter named that is not a wait, in words
	closedPastDeadline string // why its place is closed past the deadline, in words
}

// A run is what all waits of a loop have in common.
type run struct {
	caller, ctx context.Context // ctx is done with the caller's, at the deadline, or once the goal is decided
	start       time.Time
	deadline    time.Time // zero = none
	rand        *rand.Rand
	stepping    bool      // it makes one attempt, if that is due
	stepEnd     time.Time // when the attempt of a step ends at the latest, zero for no limit
	invalid     error     // why the group cannot run, nil for a valid group
	// news tells an event of a message from the goroutine that looks, and reports whether the consumer goes on.
	news func(Event) bool
}

// isOver reports whether the run ends: at the deadline, by the caller or the consumer, or since its goal is decided.
func (r *run) isOver() bool { return r.ctx.Err() != nil }

// newWait returns the wait of p in a run.
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
	if p.Probe != nil { // an element has none
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

// maxUnobserved is how much longer than the planned wait the pause between two runs may be, if a
// verdict is to count as having held in between.
const maxUnobserved = 2 * time.Second

// resumeFrom goes on from the State of an earlier run. A clock that was ahead then makes no wait
// longer than it was planned.
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
	if !seen.IsZero() && now.Sub(seen) > max(w.Previous, w.Due.Sub(seen))+maxUnobserved { // what it was in between is not known
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
		w.Due, w.Reserved = latest, false // the limiter is asked anew
	}
	w.last = &judgement{verdict: status.Verdict{Status: w.Status, Reason: w.Reason}}
}

var (
	errMayHaveStarted = errors.New("the operation may have started: the request that starts it was sent, and its answer is not known")
	errNoPosition     = errors.New("the operation has been started, and this probe cannot go on with it")
	errNoProbe        = errors.New("there is no probe")
)

// open prepares the first attempt. It returns how the wait ends if no attempt can succeed,
// "" if it goes on.
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

// prepare finds the position of an earlier run, and reports why no attempt can succeed.
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

// use makes p the probe of the next attempt.
func (w *wait) use(p Probe) { w.probe, w.planned = p, p.Plan() }

// begin notes that an attempt begins.
func (w *wait) begin() {
	w.Attempts++
	w.Due, w.Reserved = time.Time{}, false
}

// isDeadline reports whether the deadline of the wait has come at a time.
func (w *wait) isDeadline(at time.Time) bool { return !w.deadline.IsZero() && !at.Before(w.deadline) }

// context returns the context of an attempt, which is done at the wait's deadline, too, and after limit, if that is
// not 0.
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

// look makes an attempt, and returns how long it took. The evaluation of the response has a
// time limit of its own. tell is told the messages of a stream. AttemptTimeout limits the attempt, except a stream of
// an HTTP probe: there it limits each request until the header has come.
func (w *wait) look(pace *paced, tell func(context.Context, status.Observation) (enough bool)) (status.Observation, time.Duration) {
	var limit time.Duration
	if !w.run.stepEnd.IsZero() {
		limit = max(time.Until(w.run.stepEnd), 1)
	}
	ctx, cancel := w.context(limit)
	defer cancel()
	limits := &limits{request.Attempt{Anew: w.stream.pending}, w.planned.continues}
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
	r := w.probe.Check(ctx, Attempt{
		Number: w.Attempts, Elapsed: begun.Sub(w.Start), Previous: w.Status, LastLook: w.LastLook, NoCache: w.Evidence != nil, Accept: w.p.Rules.Accept,
		Tell:   func(o status.Observation) bool { return tell(ctx, o) },
		limits: limits,
	})
	took := time.Since(begun)
	if w.result = r.Result; r.Next != nil {
		if w.use(r.Next); w.done == nil { // a later run checks the operation before the result
			w.Position = r.Position
		}
	}
	w.ended(ctx, &r.Observation)
	return r.Observation, took
}

// announce hands the State to Starting if the next request is to start the operation. That request
// must not be sent if the State could not be kept.
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

// keptBody is how many bytes are kept of an answer that did not end a wait in a group. They are
// enough for what the outcome says of the last answer.
const keptBody = 8 << 10

// slim drops the parts of the last attempt that the outcome does not need. Events that were emitted
// keep theirs.
func (w *wait) slim() {
	o := *w.last.observation
	o.Header, o.Remarks, o.Pages, o.Within, o.Output = nil, nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	w.last.observation = &o
}

// event returns an event of a wait.
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
		if e.Verdict.Status == status.Error && !w.decided() { // it may heal
			e.Verdict.Status = status.NotReady
		}
	}
	return e
}
