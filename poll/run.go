package poll

import (
	"context"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A run is one wait: its settings and its state.
type run struct {
	Poller                   // with its defaults
	n        int             // its number in a group, 0 for none
	caller   context.Context // the caller's
	ctx      context.Context // done with the caller's, or at the deadline of all
	list     *list           // that it judges answers for, nil for none
	series   *Series         // in which it shares answers, nil for none
	probe    Probe           // the session, if the probe has one; the result's once done
	deadline time.Time       // the earlier of Timeout's and ctx's, zero for none
	limit    time.Duration   // how long it was to the deadline at first
	crowd    time.Duration   // how long the last looks of all at the same place take
	state
}

// A state is what one attempt passes on to the next, besides the probe's session.
type state struct {
	began    time.Time     // the operation, as far as is known; zero while its start is due
	attempts int           // begun so far
	sent     int           // how many of those were to start the operation
	taken    int           // how many were another process's
	alone    int           // how many should have been shared, and were not
	previous time.Duration // the schedule's last wait
	took     durations     // of the attempts that ended by themselves
	tally    *status.Tally
	seen     bool            // an answer has not yet been a SUCCESS
	streak   int             // consecutive verdicts with the last one's status
	since    time.Time       // when the first of those came
	body     uint32          // a sum of the last answer
	changed  time.Time       // when that was another than the one before
	last     *judged         // the last attempt
	complete *judged         // the last attempt that ended by itself
	done     *status.Verdict // the SUCCESS, once only the result is missing
	missing  string          // the result, in words
	shown    bool            // an answer has held it, if it is an element
	closed   string          // what keeps its place closed past the deadline, in words

	// Of a wait that can be resumed:
	session  Resumer       // the probe's session, nil if it is none
	looked   time.Time     // when the last attempt ended
	due      time.Time     // when the next one comes, once that is planned
	lastLook bool          // it is the last one before the deadline
	starting bool          // the operation is being started, and it is not known whether it was
	refused  error         // why the request that starts it was not sent
	waited   time.Duration // since the last attempt, when the run began
	hinted   *status.Hint  // what remained then of the wait that the server asked for
}

// judged is an attempt that has ended.
type judged struct {
	observation *status.Observation
	verdict     status.Verdict
	took        time.Duration
}

// newRun returns a run of p with its defaults, whose context is not derived yet.
func newRun(ctx context.Context, p Poller) *run {
	if p.Schedule == nil {
		p.Schedule = backoff.Cap{}
	}
	if p.Throttled == nil {
		p.Throttled = backoff.Throttled(p.Schedule)
	}
	p.SuccessThreshold = max(p.SuccessThreshold, 1)
	p.ErrorThreshold = max(p.ErrorThreshold, 1)
	if p.Start.IsZero() && p.Past != nil {
		p.Start = p.Past.Start
	}
	if p.Start.IsZero() {
		p.Start = time.Now()
	}
	if p.ID == 0 {
		p.ID = newRunID()
	}
	if t, ok := p.Probe.(Targeter); ok && p.Target == "" {
		p.Target = t.Target()
	}
	if p.Rand == nil {
		p.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	none := &judged{}
	r := &run{Poller: p, caller: ctx, ctx: ctx, probe: p.Probe, state: state{last: none, complete: none, tally: new(status.Tally)}}
	r.deadline, _ = ctx.Deadline()
	if own := r.Start.Add(p.Timeout); p.Timeout > 0 && (r.deadline.IsZero() || own.Before(r.deadline)) {
		r.deadline = own
	}
	r.limit = r.deadline.Sub(r.Start)
	if r.Past != nil {
		r.restore()
	}
	return r
}

// open opens the session of the probe, and reports why no attempt can succeed.
func (r *run) open() error {
	r.openSession()
	if err := r.check(); err != nil {
		return err
	}
	if err := r.restoreSession(); err != nil {
		return err
	}
	if r.began.IsZero() && !r.startDue() {
		r.began = r.Start
	}
	return nil
}

// openSession makes the probe what is looked at: its session, if it has one.
func (r *run) openSession() {
	r.probe = r.Probe
	if s, ok := r.Probe.(Sessioner); ok {
		r.probe = s.Session()
	}
}

// untilDeadline returns a context that is done at the run's deadline, too.
func (r *run) untilDeadline() (context.Context, context.CancelFunc) {
	if d, ok := r.ctx.Deadline(); r.deadline.IsZero() || ok && !r.deadline.Before(d) {
		return r.ctx, func() {}
	}
	return context.WithDeadlineCause(r.ctx, r.deadline, ErrDeadline)
}

// check reports why no attempt can succeed.
func (r *run) check() error {
	switch {
	case r.Probe == nil:
		return errors.New("there is no probe")
	case r.Elements != nil && r.list == nil:
		return errors.New("the elements of an answer are waited for by a group")
	}
	c, ok := r.probe.(Checker)
	if !ok {
		c, ok = r.Probe.(Checker)
	}
	if ok {
		return c.Check()
	}
	return nil
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

// look executes the probe once. The time that an attempt may take does not count for
// its judgement.
//
// With a pace, which is for HTTP, the requests of an attempt are bounded one by one, without
// what they wait for.
func (r *run) look(lastLook bool, pace request.Pace) (status.Observation, time.Duration) {
	ctx, cancel := r.untilDeadline()
	defer cancel()
	_, isHTTP := r.session.(httpSession)
	if r.AttemptTimeout > 0 && (!isHTTP || pace == nil) {
		ctx, cancel = context.WithTimeoutCause(ctx, r.AttemptTimeout, ErrAttemptTimeout)
		defer cancel()
	}
	if err := r.announce(); err != nil {
		return status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: err.Error(), Err: err}}, 0
	}
	begun := time.Now()
	a := Attempt{Number: r.attempts, Elapsed: begun.Sub(r.Start), Previous: r.last.verdict.Status, LastLook: lastLook}
	if s, ok := r.probe.(httpSession); ok {
		o := s.Look(ctx, request.Attempt{Last: lastLook, Pace: pace, Timeout: r.AttemptTimeout})
		return o, time.Since(begun)
	}
	o := r.probe.Probe(ctx, a)
	return o, time.Since(begun)
}

// answered judges what an attempt saw.
func (r *run) answered(o status.Observation, took time.Duration) {
	if r.refused != nil {
		r.last = &judged{observation: &o}
		return
	}
	o.Attempt, o.Elapsed, o.Target = r.attempts, time.Since(r.Start)-took, r.Target
	r.noteChange(&o)
	r.judge(&o, took)
	r.looked = time.Now()
	r.starting = r.starting && o.Stopped() && !r.startDue()
	if !r.began.IsZero() {
		return
	}
	// It was to start the operation. Once that is answered, the schedule begins anew.
	r.sent++
	if !r.startDue() {
		r.began, r.previous = time.Now(), 0
	}
}

// startDue reports whether the next attempt is to start the operation.
func (r *run) startDue() bool {
	s, ok := r.probe.(Starter)
	return ok && s.StartDue()
}

func (r *run) judge(o *status.Observation, took time.Duration) {
	ctx, cancel := r.untilDeadline()
	defer cancel()
	if r.AttemptTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, r.AttemptTimeout)
		defer cancel()
	}
	j := &judged{observation: o, took: took}
	v := &j.verdict
	switch {
	case o.Stopped():
		*v = status.Verdict{Status: status.NotReady, Reason: o.Failure.Reason}
	case r.list != nil:
		*v = r.list.classify(ctx, j)
	case r.done != nil: // the rules are about the operation
		*v = status.Rules{}.Classify(ctx, *o)
	default:
		*v = r.Rules.Classify(ctx, *o)
	}
	if o.Stopped() || v.Abandoned {
		r.adopt(j)
		return
	}
	r.tally.Add(o, *v)
	if v.Status != status.Success {
		v.Hints = r.tally.FirstHints()
	}
	switch { // with the result, the verdict on the operation holds
	case r.done == nil:
	case v.Status == status.Success:
		*v = *r.done
	default:
		v.Reason = r.missing + ": " + v.Reason
	}
	r.adopt(j)
	if !o.Taken && (o.Failure == nil || !errors.Is(o.Failure.Err, ErrAttemptTimeout)) {
		r.took.add(took)
	}
}

// adopt makes j the last attempt.
func (r *run) adopt(j *judged) {
	before := r.last.verdict.Status
	r.last = j
	if j.observation.Stopped() || j.verdict.Abandoned {
		r.streak = 0
		return
	}
	if j.verdict.Status != before {
		r.streak = 0
	}
	r.seen = r.seen || j.observation.Failure == nil && j.verdict.Status != status.Success
	if r.streak == 0 || r.since.IsZero() {
		r.since = time.Now()
	}
	r.streak++
	r.complete = j
}

// lookForResult probes the result from now on, if the last attempt said that the
// operation is done and the result is another document. The first look is part of
// that attempt.
func (r *run) lookForResult(lastLook bool, pace request.Pace) {
	f, ok := r.probe.(Finisher)
	if !ok || r.last.verdict.Status != status.Success || !r.decided() {
		return
	}
	look, what := f.Result(*r.last.observation)
	if look == nil {
		return
	}
	done, took := r.last.verdict, r.last.took
	r.done, r.missing = &done, "done, but its result could not be fetched: "+what
	r.probe = ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation { return look(ctx) })
	r.streak = 0
	r.complete = &judged{observation: r.complete.observation, took: r.complete.took,
		verdict: status.Verdict{Status: status.NotReady, Reason: r.missing}}
	r.answered(r.look(lastLook, pace))
	r.last.took += took
}

// unrunnable reports whether there was no attempt, and how the run ends then: the program
// cannot be run, or the start must not be sent.
func (r *run) unrunnable() (Ending, bool) {
	if r.refused != nil {
		return Failed, true
	}
	f := r.last.observation.Failure
	return CannotRun, f != nil && (f.Kind == status.FailureNotFound || f.Kind == status.FailureNotExecutable)
}

// interrupted reports whether the caller's context was canceled. Its deadline is not an
// interruption: the run has planned for it.
func (r *run) interrupted() bool {
	err := r.caller.Err()
	return err != nil && !errors.Is(err, context.DeadlineExceeded)
}

// broken returns the cause with which the caller said that the operation has failed; nil if
// it did not.
func (r *run) broken() error {
	if cause := context.Cause(r.caller); isPermanent(cause) {
		return cause
	}
	return nil
}

// stopped returns how a run ends whose context is done, whose deadline has come, or whose
// place is closed until then.
func (r *run) stopped() Ending {
	switch {
	case r.closed != "":
		return HintTooLong
	case r.broken() != nil:
		return Failed
	case r.interrupted():
		return Interrupted
	case errors.Is(context.Cause(r.ctx), Cancelled):
		return Cancelled
	}
	return TimedOut
}

// ending reports whether the run is over after an attempt, and how. If several endings
// apply, the first of these counts: the verdict, the caller, the hint, the attempts, the
// deadline.
func (r *run) ending() (Ending, bool) {
	switch {
	case r.decided() && r.last.verdict.Status == status.Error:
		return Failed, true
	case r.decided():
		return Succeeded, true
	case r.stopped() != TimedOut:
		return r.stopped(), true
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
	return needed > 0 && r.streak >= needed && r.held() >= r.holdFor()
}

// held returns how long the last verdict has been the same.
func (r *run) held() time.Duration { return time.Since(r.since) }

// holdFor returns how long the last verdict has to hold.
func (r *run) holdFor() time.Duration {
	if r.last.verdict.Status == status.Success && r.done == nil {
		return r.SuccessFor
	}
	return 0
}

// noteChange notes how long the answers have been the same. Of one that was cut the rest may
// have changed.
func (r *run) noteChange(o *status.Observation) {
	if o.Failure == nil {
		table := crc32.MakeTable(crc32.Castagnoli)
		sum := crc32.Checksum(o.Body, table)
		for _, page := range o.Pages {
			sum = crc32.Update(sum, table, page)
		}
		if sum != r.body || r.changed.IsZero() || o.Truncated {
			r.body, r.changed = sum, time.Now()
		}
	}
	if !r.changed.IsZero() {
		o.Unchanged = time.Since(r.changed).Truncate(time.Millisecond)
	}
}

// threshold returns how many verdicts like the last one end the run, in a row; 0 if it
// never ends by them.
func (r *run) threshold() int {
	switch v := r.last.verdict; {
	case v.Final, v.Status == status.Success && r.done != nil:
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
