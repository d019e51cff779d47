package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/status"
)

// A wait is one target: what is waited for, and where that stands. Its methods are the
// rules of waiting, and know nothing of other targets, of places and of goroutines.
type wait struct {
	State
	p        Poller // with its defaults
	n        int    // its number in a group, 0 for none
	loop     *loop
	probe    Probe         // the session of p.Probe, or p.Probe itself; the result's once done is set
	deadline time.Time     // zero = none
	limit    time.Duration // how long it was to the deadline at first
	others   time.Duration // how long the last looks of all others take
	list     *list         // that it leads, nil for none
	element  *element      // that it waits for, nil for none
	found    bool          // an answer was not yet a SUCCESS
	tally    *status.Tally
	last     *judged  // the last attempt
	complete *judged  // the last attempt that ended by itself
	done     *pending // once only the result is missing
	hopeless error    // why no attempt can succeed
	unsent   bool     // the request that starts the operation, since hopeless
	closed   string   // why its place is closed past the deadline, in words
}

// pending is an operation that is done, and whose result is missing.
type pending struct {
	verdict status.Verdict // SUCCESS
	missing string         // the result, in words
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
	w := &wait{p: p, loop: l, probe: p.Probe, last: none, complete: none, tally: new(status.Tally)}
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

// unseen is how much longer than a planned wait nobody may have looked between two runs, for a
// SUCCESS that has to hold for some time.
const unseen = 2 * time.Second

// goOn goes on from the State of an earlier run. A clock that was ahead then makes no wait
// longer than it was planned.
func (w *wait) goOn(past State, now time.Time) {
	w.State = past
	if w.Ended() {
		w.Reason = cmp.Or(w.Reason, "it had "+string(w.Ending)+" before")
	}
	for _, t := range []*time.Time{&w.Start, &w.Began, &w.Last, &w.Since, &w.Changed, &w.Listed} {
		if t.After(now) {
			*t = now
		}
	}
	if !w.Last.IsZero() && now.Sub(w.Last) > w.Previous+unseen { // what it was in between is not known
		w.Since = time.Time{}
	}
	w.Sent = min(w.Sent, w.Attempts)
	if w.Hint != nil && now.Sub(w.Last) >= w.Hint.Wait {
		w.Hint = nil
	}
	longest := w.Previous
	if w.Hint != nil {
		longest = max(longest, w.Hint.Wait+w.Hint.Wait/10)
	}
	if latest := now.Add(backoff.Add(w.p.InitialDelay, longest)); w.Due.After(latest) {
		w.Due, w.Reserved = latest, false // the limiter is asked anew
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
	case w.p.Elements != nil && w.p.Elements.Each == nil:
		return errors.New("the elements have no Each")
	case slices.ContainsFunc(slices.Concat(w.p.Rules.Own, w.p.Rules.Preset), func(r status.Rule) bool { return r.Expr == nil }):
		return errors.New("a rule has no Expr")
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
	w.probe = w.p.Probe
	if s, ok := w.p.Probe.(sessioner); ok {
		w.probe = s.Session()
	}
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
	w.Due, w.Reserved = time.Time{}, false
}

const (
	// minReserve is the least time kept for a last look, if there is that much. With less
	// left before the deadline, no further attempt is planned.
	minReserve = 50 * time.Millisecond
	// unmeasuredReserve is kept until an attempt has been timed. Too much does no harm: a
	// quick attempt is followed by a later one.
	unmeasuredReserve = 2 * time.Second
	// hintSpread is the largest share of a hint that is added to it at random, so that
	// clients that were told the same wait do not return together.
	hintSpread = 0.1
)

// plan plans the next attempt: after the schedule's own wait, or after the server's if that
// is longer, but so that it fits before the deadline, and not sooner than a THROTTLED answer
// asks for.
//
// Those who share the answers look at the time that is given, zero for none.
func (w *wait) plan(now, shared time.Time) {
	wait := max(0, w.Due.Sub(now))
	if w.Due.IsZero() { // otherwise it is that of an earlier run
		wait = w.naturalWait(now, shared)
	}
	w.LastLook = false
	if !w.deadline.IsZero() {
		left, least := w.deadline.Sub(now), time.Duration(0)
		if w.Status == status.Throttled {
			least = w.hintLeft(now)
		}
		if latest := max(left-w.reserve(left), least, 0); wait > latest {
			wait, w.LastLook = latest, true
		}
	}
	w.Due = now.Add(wait)
}

// naturalWait returns the wait before the next attempt if there were no deadline. It counts
// from the last attempt, also if an earlier run made that.
func (w *wait) naturalWait(now, shared time.Time) time.Duration {
	wait := max(0, w.ownWait(shared)-w.passed(now))
	if hint := w.hintLeft(now); hint > 0 {
		spread := time.Duration(w.p.Rand.Float64() * hintSpread * float64(hint))
		wait = backoff.Add(max(wait, hint), spread)
	}
	return wait
}

// hintLeft returns what is left of the wait that the server asked for.
func (w *wait) hintLeft(now time.Time) time.Duration {
	if w.Hint == nil {
		return 0
	}
	return max(0, w.Hint.Wait-w.passed(now))
}

// passed returns the time since the last attempt if an earlier run made that.
func (w *wait) passed(now time.Time) time.Duration {
	if w.last.observation != nil || w.Last.IsZero() {
		return 0
	}
	return now.Sub(w.Last)
}

// ownWait returns the schedule's wait. Wait n comes before attempt n+1, not counting
// attempts to start the operation.
func (w *wait) ownWait(shared time.Time) time.Duration {
	var delay time.Duration
	starts := w.Began.IsZero()
	if w.Attempts == 0 {
		delay = w.p.InitialDelay
		if w.p.Immediate || starts {
			return delay
		}
	}
	if !shared.IsZero() {
		return max(0, time.Until(shared))
	}
	if w.list != nil && w.list.confirms() {
		return time.Until(w.Listed.Add(lag))
	}
	schedule, throttled := w.p.Schedule, w.p.Throttled
	if starts && w.p.Resend != nil {
		schedule, throttled = w.p.Resend, backoff.Throttled(w.p.Resend)
	}
	if w.Status == status.Throttled && w.Hint == nil {
		schedule = throttled
	}
	step := backoff.Step{N: w.Attempts - w.Sent, Elapsed: time.Since(w.Began), Previous: w.Previous}
	if starts {
		step.N, step.Elapsed = w.Sent-1, time.Since(w.Start)
	}
	step.Elapsed = backoff.Add(step.Elapsed, delay)
	w.Previous = schedule.Wait(step, w.p.Rand)
	return backoff.Add(delay, w.Previous)
}

// reserve returns the time to keep for one more attempt when left is what remains before the
// deadline: twice the median attempt, at least 50 ms, and the time that the last looks of all others
// take, but at most half of what is left, so that a slow probe still gets several
// looks. If half is too little for a median attempt, more is kept.
func (w *wait) reserve(left time.Duration) time.Duration {
	median, most := w.median(), left/2
	if median == 0 {
		return min(unmeasuredReserve+w.others, most)
	}
	if most < median && median < left {
		most = left - (left-median)/2
	}
	return min(max(minReserve, 2*median)+w.others, most)
}

// median returns how long an attempt takes, 0 if none was measured.
func (s *State) median() time.Duration {
	sorted := s.Took
	slices.Sort(sorted[:])
	first, _ := slices.BinarySearch(sorted[:], 1)
	if first == len(sorted) {
		return 0
	}
	return sorted[(first+len(sorted))/2]
}

// earliest returns the earlier of two times, of which zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
