package poll

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A wait is one target: what is waited for, and where that stands. Its methods are the
// rules of waiting, and know nothing of other targets, of places and of goroutines.
type wait struct {
	State
	p        Poller // with its defaults
	run      RunID
	n        int // its number in a group, 0 for none
	loop     *loop
	session  Probe         // of p.Probe, or p.Probe itself if that has none
	probe    Probe         // the session, or that of the result once done is set
	deadline time.Time     // zero = none
	limit    time.Duration // how long it was to the deadline at first
	crowd    time.Duration // how long the last looks of all at the same place take
	next     time.Time     // when all who share the answers look next, zero = they do not
	list     *list         // that it leads, nil for none
	element  *element      // that it waits for, nil for none
	own      *judged       // the last attempt by the element, or by the lack of it
	news     bool          // own is of the last attempt, and is to be told
	found    bool          // an answer was not yet a SUCCESS
	tally    *status.Tally
	last     *judged         // the last attempt
	complete *judged         // the last attempt that ended by itself
	done     *status.Verdict // the SUCCESS, once only the result is missing
	missing  string          // the result, in words
	hopeless error           // why no attempt can succeed
	refused  error           // why the request that starts the operation was not sent
	closed   string          // why its place is closed past the deadline, in words
}

// judged is an attempt that has ended.
type judged struct {
	observation *status.Observation
	verdict     status.Verdict
	took        time.Duration
}

// newWait returns the wait of p in a loop.
func newWait(l *loop, p Poller) *wait {
	if p.Schedule == nil {
		p.Schedule = backoff.Cap{}
	}
	if p.Throttled == nil {
		p.Throttled = backoff.Throttled(p.Schedule)
	}
	p.SuccessThreshold, p.ErrorThreshold = max(p.SuccessThreshold, 1), max(p.ErrorThreshold, 1)
	if t, ok := p.Probe.(targeter); ok && p.Target == "" {
		p.Target = t.Target()
	}
	if p.Rand == nil {
		p.Rand = l.Rand
	}
	none := &judged{}
	w := &wait{p: p, loop: l, run: RunID(1 + rand.Uint64N(math.MaxUint64)), probe: p.Probe, last: none, complete: none, tally: new(status.Tally)}
	if p.Past != nil {
		w.goOn(*p.Past, time.Now())
	}
	if w.p.Start.IsZero() {
		w.p.Start = earliest(l.Start, w.Start)
	}
	if w.Start.IsZero() {
		w.Start = w.p.Start
	}
	if w.deadline = l.deadline; p.Timeout > 0 {
		w.deadline = earliest(w.deadline, w.p.Start.Add(p.Timeout))
	}
	w.limit = w.deadline.Sub(w.p.Start)
	return w
}

// goOn goes on from the State of an earlier run. A clock that was ahead then makes no wait
// longer than it was planned.
func (w *wait) goOn(past State, now time.Time) {
	w.State = past
	for _, t := range []*time.Time{&w.Start, &w.Began, &w.Last, &w.Since, &w.Changed} {
		if t.After(now) {
			*t = now
		}
	}
	w.Sent = min(w.Sent, w.Attempts)
	if !w.Due.IsZero() && !w.Reserved {
		longest := w.Previous
		if w.Hint != nil {
			longest = max(longest, w.Hint.Wait+w.Hint.Wait/10)
		}
		w.Due = earliest(w.Due, now.Add(backoff.Add(w.p.InitialDelay, longest)))
	}
	w.last = &judged{verdict: status.Verdict{Status: w.Status, Reason: w.Reason}}
}

var (
	errMayHaveStarted = errors.New("the operation may have started: the request that starts it was sent, and its answer is not known")
	errNoSession      = errors.New("the operation has been started, and this probe cannot go on with it")
)

// open opens the session of the probe. It returns how the wait ends if no attempt can succeed,
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

// prepare opens the session of the probe, and reports why no attempt can succeed.
func (w *wait) prepare() error {
	switch {
	case w.p.Probe == nil:
		return errors.New("there is no probe")
	case w.p.Elements != nil && w.list == nil:
		return errors.New("the elements of an answer are waited for by a group")
	}
	w.openSession()
	c, ok := w.probe.(checker)
	if !ok {
		c, ok = w.p.Probe.(checker)
	}
	if ok {
		if err := c.Check(); err != nil {
			return err
		}
	}
	if s, ok := w.probe.(resumer); ok {
		if len(w.Session) > 0 {
			if err := s.Resume(w.Session); err != nil {
				return fmt.Errorf("go on with the wait: %w", err)
			}
		}
		w.Session = s.Save() // of an element that is looked at alone, before its first attempt
	}
	if !w.Began.IsZero() && w.startDue() {
		return errNoSession
	}
	if w.Began.IsZero() && !w.startDue() {
		w.Began = w.Start
	}
	return nil
}

// openSession makes the probe what is looked at: its session, if it has one.
func (w *wait) openSession() {
	w.session = w.p.Probe
	if s, ok := w.p.Probe.(sessioner); ok {
		w.session = s.Session()
	}
	w.probe = w.session
}

// context returns the one of an attempt, which is done at the wait's deadline, too, and after
// limit, if that is not 0.
func (w *wait) context(limit time.Duration) (context.Context, context.CancelFunc) {
	ends, why := w.deadline, ErrDeadline
	if own := time.Now().Add(limit); limit > 0 && (ends.IsZero() || own.Before(ends)) {
		ends, why = own, ErrAttemptTimeout
	}
	ctx := w.loop.ctx
	if d, ok := ctx.Deadline(); ends.IsZero() || ok && !ends.Before(d) {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, ends, why)
}

// begin notes that an attempt begins.
func (w *wait) begin() {
	w.Attempts++
	w.Due, w.Reserved, w.news = time.Time{}, false, false
}

// look makes an attempt. The time that it may take does not count for its judgement.
// With a pace, the requests of an attempt are bounded one by one, without what they wait for.
func (w *wait) look(pace request.Pace) (status.Observation, time.Duration) {
	limit := w.p.AttemptTimeout
	if _, isHTTP := w.session.(httpSession); isHTTP && pace != nil {
		limit = 0
	}
	ctx, cancel := w.context(limit)
	defer cancel()
	if err := w.announce(); err != nil {
		return status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: err.Error(), Err: err}}, 0
	}
	begun := time.Now()
	a := Attempt{Number: w.Attempts, Elapsed: begun.Sub(w.Start), Previous: w.Status, LastLook: w.LastLook}
	if s, ok := w.probe.(httpSession); ok {
		o := s.Look(ctx, request.Attempt{Last: a.LastLook, Pace: pace, Timeout: w.p.AttemptTimeout})
		return o, time.Since(begun)
	}
	o := w.probe.Probe(ctx, a)
	return o, time.Since(begun)
}

// announce tells that the next request is to start the operation. It must not be sent if that
// cannot be noted.
func (w *wait) announce() error {
	if !w.startDue() {
		return nil
	}
	w.Starting = true
	if w.p.Starting != nil {
		w.refused = w.p.Starting(w.State)
		w.Starting = w.refused == nil
	}
	return w.refused
}

// startDue reports whether the next attempt is to start the operation.
func (w *wait) startDue() bool {
	s, ok := w.probe.(starter)
	return ok && s.StartDue()
}

// answered judges what an attempt saw.
func (w *wait) answered(o status.Observation, took time.Duration) {
	if w.refused != nil {
		w.last = &judged{observation: &o}
		return
	}
	o.Attempt, o.Elapsed, o.Target = w.Attempts, time.Since(w.Start)-took, w.p.Target
	w.noteChange(&o)
	w.judge(&o, took)
	w.Last = time.Now()
	w.Starting = w.Starting && o.Stopped() && !w.startDue()
	if w.Began.IsZero() {
		// It was to start the operation. Once that is answered, the schedule begins anew.
		w.Sent++
		if !w.startDue() {
			w.Began, w.Previous = w.Last, 0
		}
	}
	if s, ok := w.probe.(resumer); ok {
		w.Session = s.Save()
	}
}

// judge gives an observation its verdict.
func (w *wait) judge(o *status.Observation, took time.Duration) {
	ctx, cancel := w.context(w.p.AttemptTimeout)
	defer cancel()
	j := &judged{observation: o, took: took}
	v := &j.verdict
	switch {
	case o.Stopped():
		*v = status.Verdict{Status: status.NotReady, Reason: o.Failure.Reason}
	case w.list != nil:
		*v = w.list.classify(ctx, j)
	case w.done != nil: // the rules are about the operation
		*v = status.Rules{}.Classify(ctx, *o)
	default:
		*v = w.p.Rules.Classify(ctx, *o)
	}
	if o.Stopped() || v.Abandoned {
		w.adopt(j)
		return
	}
	w.tally.Add(o, *v)
	if v.Status != status.Success {
		v.Hints = w.tally.FirstHints()
	}
	switch { // with the result, the verdict on the operation holds
	case w.done == nil:
	case v.Status == status.Success:
		*v = *w.done
	default:
		v.Reason = w.missing + ": " + v.Reason
	}
	w.adopt(j)
	if !o.Taken && (o.Failure == nil || !errors.Is(o.Failure.Err, ErrAttemptTimeout)) {
		w.Took[w.Attempts%len(w.Took)] = max(took, 1) // 0 is none
	}
}

// adopt makes j the last attempt.
func (w *wait) adopt(j *judged) {
	v := &j.verdict
	stopped := j.observation.Stopped() || v.Abandoned
	if stopped || v.Status != w.Status {
		w.Streak = 0
	}
	w.last, w.Hint, w.Status, w.Reason = j, j.observation.Hint, v.Status, v.Reason
	if stopped {
		return
	}
	w.found = w.found || j.observation.Failure == nil && w.Status != status.Success
	if w.Streak == 0 || w.Since.IsZero() {
		w.Since = time.Now()
	}
	w.Streak++
	w.complete = j
}

// noteChange notes how long the answers have been the same. Of one that was cut the rest may
// have changed. It reports whether the answer is another than the one before.
func (w *wait) noteChange(o *status.Observation) (changed bool) {
	if o.Failure == nil {
		table := crc32.MakeTable(crc32.Castagnoli)
		sum := crc32.Checksum(o.Body, table)
		for _, page := range o.Pages {
			sum = crc32.Update(sum, table, page)
		}
		if changed = sum != w.Sum || w.Changed.IsZero() || o.Truncated; changed {
			w.Sum, w.Changed = sum, time.Now()
		}
	}
	if !w.Changed.IsZero() {
		o.Unchanged = time.Since(w.Changed).Truncate(time.Millisecond)
	}
	return changed
}

// lookForResult probes the result from now on, if the last attempt said that the operation
// is done and the result is another document. The first look is part of that attempt.
func (w *wait) lookForResult(pace request.Pace) {
	f, ok := w.probe.(finisher)
	if !ok || w.Status != status.Success || !w.decided() {
		return
	}
	look, what := f.Result(*w.last.observation)
	if look == nil {
		return
	}
	done, took := w.last.verdict, w.last.took
	w.done, w.missing = &done, "done, but its result could not be fetched: "+what
	w.probe = ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation { return look(ctx) })
	w.Streak = 0
	w.complete = &judged{observation: w.complete.observation, took: w.complete.took,
		verdict: status.Verdict{Status: status.NotReady, Reason: w.missing}}
	w.answered(w.look(pace))
	w.last.took += took
}

// unrunnable returns how the wait ends if there was no attempt, since the program cannot be run
// or the start must not be sent; otherwise "".
func (w *wait) unrunnable() Ending {
	f := w.last.observation.Failure
	switch {
	case w.refused != nil:
		return Failed
	case f != nil && (f.Kind == status.FailureNotFound || f.Kind == status.FailureNotExecutable):
		return CannotRun
	}
	return ""
}

// stopped returns how the wait ends once nothing is waited for any more: its place is closed
// until its deadline, the loop ends, or its deadline has come.
func (w *wait) stopped() Ending {
	if w.closed != "" {
		return HintTooLong
	}
	return w.loop.stopped()
}

// ending returns how the wait ends after an attempt, "" if it goes on. If several endings
// apply, the first of these counts: the verdict, the caller, the hint, the attempts, the
// deadline.
func (w *wait) ending() Ending {
	switch {
	case w.decided() && w.Status == status.Error:
		return Failed
	case w.decided():
		return Succeeded
	case w.stopped() != TimedOut:
		return w.stopped()
	case w.hintTooLong():
		return HintTooLong
	case w.p.MaxAttempts > 0 && w.Attempts >= w.p.MaxAttempts:
		return AttemptsExhausted
	case !w.deadline.IsZero() && time.Until(w.deadline) < minReserve:
		return TimedOut
	}
	return ""
}

// before returns how a wait ends that goes on from a Past after which there is nothing to do,
// "" if it goes on.
func (w *wait) before() Ending {
	switch {
	case w.Ending != "":
		return w.Ending
	case w.Starting:
		w.hopeless = errMayHaveStarted
		return Failed
	case w.p.MaxAttempts > 0 && w.Attempts >= w.p.MaxAttempts:
		return AttemptsExhausted
	}
	return ""
}

// decided reports whether the verdict ends the wait.
func (w *wait) decided() bool {
	needed := w.threshold()
	return needed > 0 && w.Streak >= needed && w.held() >= w.holdFor()
}

// held returns how long the last verdict has been the same.
func (w *wait) held() time.Duration { return time.Since(w.Since) }

// holdFor returns how long the last verdict has to hold.
func (w *wait) holdFor() time.Duration {
	if w.Status == status.Success && w.done == nil {
		return w.p.SuccessFor
	}
	return 0
}

// threshold returns how many verdicts like the last one end the wait, in a row; 0 if it never
// ends by them.
func (w *wait) threshold() int {
	switch v := w.last.verdict; {
	case v.Final, v.Status == status.Success && w.done != nil:
		return 1
	case v.Status == status.Success:
		return w.p.SuccessThreshold
	case v.Status == status.Error:
		return w.p.ErrorThreshold
	}
	return 0
}

// hintTooLong reports whether a THROTTLED answer asks for a wait that does not fit before the
// deadline.
func (w *wait) hintTooLong() bool {
	return w.Status == status.Throttled && w.Hint != nil && !w.deadline.IsZero() && w.Hint.Wait >= time.Until(w.deadline)
}

// earliest returns the earlier of two times, of which zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
