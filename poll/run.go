package poll

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/status"
)

// minReserve is the time left before the deadline from which on no further
// attempt is planned, and the least that a last look is given where there is time.
const minReserve = 50 * time.Millisecond

// unmeasuredReserve is what is kept as long as nobody knows how long an attempt
// takes. Too much is no harm: a quick attempt is followed by a later one.
const unmeasuredReserve = 2 * time.Second

// A run is the state of one wait.
type run struct {
	*Poller
	caller   context.Context // done when the caller has had enough
	ctx      context.Context // done then, and at the deadline
	id       RunID
	probe    Probe // the session, if the probe has one
	rand     *rand.Rand
	start    time.Time
	deadline time.Time // the earlier of Timeout's and ctx's, zero for none

	began    time.Time     // the operation, as far as is known; zero while its start is due
	attempts int           // begun so far
	sent     int           // of them, those that were to start the operation
	previous time.Duration // the schedule's last wait
	took     durations     // of the attempts that ended by themselves
	tally    status.Tally
	streak   int    // consecutive verdicts with the last one's status
	last     judged // the last attempt
	complete judged // the last attempt that ended by itself
	done     *done  // once all that is missing is the result
}

// judged is an attempt that has ended.
type judged struct {
	observation *status.Observation
	verdict     status.Verdict
	took        time.Duration
}

func (p *Poller) begin(ctx context.Context) (*run, context.CancelFunc) {
	q := *p
	if q.Schedule == nil {
		q.Schedule = backoff.Cap{}
	}
	if q.Throttled == nil {
		q.Throttled = backoff.Throttled(q.Schedule)
	}
	q.SuccessThreshold = max(q.SuccessThreshold, 1)
	q.ErrorThreshold = max(q.ErrorThreshold, 1)
	r := &run{Poller: &q, caller: ctx, ctx: ctx, id: q.ID, probe: q.Probe, rand: q.Rand, start: q.Start}
	if r.start.IsZero() {
		r.start = time.Now()
	}
	if r.id == 0 {
		r.id = newRunID()
	}
	if t, ok := q.Probe.(Targeter); ok && q.Target == "" {
		q.Target = t.Target()
	}
	if r.rand == nil {
		r.rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if s, ok := q.Probe.(Sessioner); ok {
		r.probe = s.Session()
	}
	if !r.startDue() {
		r.began = r.start
	}
	r.deadline, _ = ctx.Deadline()
	if own := r.start.Add(q.Timeout); q.Timeout > 0 && (r.deadline.IsZero() || own.Before(r.deadline)) {
		r.deadline = own
	}
	if r.deadline.IsZero() {
		return r, func() {}
	}
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithDeadlineCause(ctx, r.deadline, ErrDeadline)
	return r, cancel
}

// interrupted reports whether the caller has had enough. That its deadline was
// reached is no interruption: the run has planned for it.
func (r *run) interrupted() bool {
	err := r.caller.Err()
	return err != nil && !errors.Is(err, context.DeadlineExceeded)
}

// wait is the loop: the only one. It returns false if the consumer broke off.
func (r *run) wait(yield func(Event) bool) (Outcome, bool) {
	if r.Probe == nil {
		return r.cannotBegin(errors.New("there is no probe")), true
	}
	if c, ok := r.Probe.(Checker); ok {
		if err := c.Check(); err != nil {
			return r.cannotBegin(err), true
		}
	}
	for {
		next := r.plan()
		waiting := r.waitEvent(next)
		if !yield(waiting) {
			return Outcome{}, false
		}
		// The time that the consumer took is part of the wait, or a slow one would
		// cost the last look.
		if !sleep(r.ctx, time.Until(waiting.NextAt)) {
			return r.cutShort(), true
		}
		if !yield(r.startEvent(next)) {
			return Outcome{}, false
		}
		r.attempts++
		r.look(next.lastLook)
		if r.unrunnable() {
			r.attempts--
			return r.outcome(CannotRun), true
		}
		r.finish(next.lastLook)
		if !yield(r.attemptEvent()) {
			return Outcome{}, false
		}
		if ending, over := r.ending(); over {
			return r.outcome(ending), true
		}
	}
}

// sleep waits for d and reports whether ctx is still alive then. Select has no
// priority: a timer that wins does not mean that ctx is not done.
func sleep(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// attemptContext is for what may take as long as one attempt.
func (r *run) attemptContext() (context.Context, context.CancelFunc) {
	if r.AttemptTimeout <= 0 {
		return r.ctx, func() {}
	}
	return context.WithTimeoutCause(r.ctx, r.AttemptTimeout, ErrAttemptTimeout)
}

// look executes the probe once and judges what it saw.
func (r *run) look(lastLook bool) {
	ctx, cancel := r.attemptContext()
	defer cancel()
	a := Attempt{
		Number:   r.attempts,
		Elapsed:  time.Since(r.start),
		Previous: r.last.verdict.Status,
		LastLook: lastLook,
	}
	begun := time.Now()
	o := r.probe.Probe(ctx, a)
	r.judge(o, a, time.Since(begun))
	if r.began.IsZero() {
		r.sentStart()
	}
}

// startDue reports whether the next attempt is to start the operation.
func (r *run) startDue() bool {
	s, ok := r.probe.(Starter)
	return ok && s.StartDue()
}

// sentStart takes note of an attempt to start the operation. Once there is an
// answer to it, the schedule begins anew.
func (r *run) sentStart() {
	r.sent++
	if !r.startDue() {
		r.began, r.previous = time.Now(), 0
	}
}

func (r *run) judge(o status.Observation, a Attempt, took time.Duration) {
	o.Attempt, o.Elapsed = a.Number, a.Elapsed
	before := r.last.verdict.Status
	r.last = judged{observation: &o, took: took}
	if o.Stopped() {
		r.last.verdict = status.Verdict{Status: status.NotReady, Reason: o.Failure.Reason}
		r.streak = 0
		return
	}
	r.last.verdict = r.Rules.Classify(r.ctx, o)
	if r.last.verdict.Abandoned {
		r.streak = 0
		return
	}
	r.tally.Add(r.last.verdict)
	if r.last.verdict.Status != status.Success {
		r.last.verdict.Hints = r.tally.FirstHints(o.Kind)
	}
	if r.done != nil {
		r.last.verdict = r.done.verdictOn(r.last.verdict)
	}
	if r.last.verdict.Status != before {
		r.streak = 0
	}
	r.streak++
	r.complete = r.last
	if o.Failure == nil || !errors.Is(o.Failure.Err, ErrAttemptTimeout) {
		r.took.add(took)
	}
}

// unrunnable reports whether the program cannot be run, so that there was no
// attempt.
func (r *run) unrunnable() bool {
	f := r.last.observation.Failure
	return f != nil && (f.Kind == status.FailureNotFound || f.Kind == status.FailureNotExecutable)
}

// ending reports whether the run is over after an attempt, and how. Where
// several endings hold the first of this order counts: the verdict, the
// caller, the hint, the attempts, the deadline.
func (r *run) ending() (Ending, bool) {
	switch {
	case r.decided() && r.last.verdict.Status == status.Error:
		return Failed, true
	case r.decided():
		return Succeeded, true
	case r.interrupted():
		return Interrupted, true
	case r.hintTooLong():
		return HintTooLong, true
	case r.MaxAttempts > 0 && r.attempts >= r.MaxAttempts:
		return AttemptsExhausted, true
	case !r.deadline.IsZero() && time.Until(r.deadline) < minReserve:
		return TimedOut, true
	}
	return 0, false
}

// decided reports whether the verdict ends the run.
func (r *run) decided() bool {
	needed := r.threshold()
	return needed > 0 && r.streak >= needed
}

// threshold is how many verdicts like the last one, in a row, end the run; 0 for
// one that never does.
func (r *run) threshold() int {
	switch v := r.last.verdict; {
	case v.Final:
		return 1
	case v.Status == status.Success:
		return r.SuccessThreshold
	case v.Status == status.Error:
		return r.ErrorThreshold
	}
	return 0
}

// hintTooLong reports whether a THROTTLED answer asks for a wait that does not
// fit before the deadline.
func (r *run) hintTooLong() bool {
	hint := r.last.observation.Hint
	return r.last.verdict.Status == status.Throttled && hint != nil &&
		!r.deadline.IsZero() && hint.Wait >= time.Until(r.deadline)
}

// cutShort is the outcome of a wait that ended before its attempt.
func (r *run) cutShort() Outcome {
	if r.interrupted() {
		return r.outcome(Interrupted)
	}
	return r.outcome(TimedOut)
}

// age is how long the operation has been running by then, as far as is known.
func (r *run) age(then time.Time) time.Duration {
	if r.began.IsZero() {
		return 0
	}
	return then.Sub(r.began)
}

func (r *run) outcome(ending Ending) Outcome {
	o := Outcome{
		Run:         r.id,
		Target:      r.Target,
		Ending:      ending,
		Status:      r.last.verdict.Status,
		Elapsed:     time.Since(r.start),
		Age:         r.age(time.Now()),
		Attempts:    r.attempts,
		Verdict:     r.complete.verdict,
		Observation: r.complete.observation,
	}
	if o.Observation == nil {
		o.Verdict, o.Observation = r.last.verdict, r.last.observation
	}
	if ending == Interrupted || ending == TimedOut {
		o.Cause = context.Cause(r.caller)
	}
	if ending != Succeeded && o.Status == status.Success {
		o.Status = status.NotReady // it was not seen often enough
	}
	o.Reason = r.reason(ending, o)
	if ending != Succeeded && o.Observation != nil {
		o.Notes = append(r.shortfall(ending), r.tally.Notes(o.Observation.Kind)...)
	}
	o.Verdict.Hints = nil
	if undecided := ending != Failed || o.Verdict.Rule == ""; undecided && ending != Succeeded && r.done == nil && o.Observation != nil {
		o.Verdict.Hints = r.tally.Hints(o.Observation.Kind)
	}
	return o
}

// shortfall notes that the last verdict would have ended the run if it had come
// more often.
func (r *run) shortfall(ending Ending) []string {
	if ending == Failed || ending == CannotRun || r.streak >= r.threshold() {
		return nil
	}
	return []string{fmt.Sprintf("the last verdict was %s, %d of %d in a row", r.last.verdict.Status, r.streak, r.threshold())}
}

// cannotBegin is the outcome of a probe that says beforehand that it cannot work.
func (r *run) cannotBegin(err error) Outcome {
	o := r.outcome(Failed)
	o.Status, o.Reason, o.Cause = status.Error, err.Error(), err
	if f, ok := errors.AsType[*status.Failure](err); ok {
		o.Ending = CannotRun
		o.Observation = &status.Observation{Kind: status.KindCommand, Failure: f}
	}
	return o
}

// limit is the time that the run had.
func (r *run) limit() time.Duration {
	if limit := r.deadline.Sub(r.start); limit != r.Timeout {
		return max(0, limit).Round(time.Millisecond) // ctx's, made a moment before
	}
	return r.Timeout
}

// reason says why the run ended as it did.
func (r *run) reason(ending Ending, o Outcome) string {
	last := o.Verdict.Reason
	if last != "" {
		last = "; last: " + last
	}
	switch ending {
	case HintTooLong:
		asked := o.Verdict.Reason
		if hint := o.Observation.Hint; !o.Verdict.TellsHint {
			asked = fmt.Sprintf("%s; %s asks for a wait of %s", asked, hint.Source, hint.Wait)
		}
		return fmt.Sprintf("%s, and %s are left before the deadline", asked, time.Until(r.deadline).Round(100*time.Millisecond))
	case AttemptsExhausted:
		return fmt.Sprintf("attempts made: %d of %d%s", r.attempts, r.MaxAttempts, last)
	case TimedOut:
		return fmt.Sprintf("timed out after %s%s", r.limit(), last)
	case Interrupted:
		return fmt.Sprintf("%v%s", o.Cause, last)
	}
	return o.Verdict.Reason
}
