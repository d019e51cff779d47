package poll

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

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
func (w *wait) plan(now time.Time) {
	wait := max(0, w.Due.Sub(now))
	if w.Due.IsZero() { // otherwise it is that of an earlier run
		wait = w.waitWithoutDeadline(now)
	}
	w.LastLook = false
	if !w.deadline.IsZero() {
		left, least := w.deadline.Sub(now), time.Duration(0)
		if w.isThrottled() {
			least = w.hintLeft(now)
		}
		latest := max(left-w.reserve(left), least, 0)
		if hold := w.toHold(); hold < left { // a look before that cannot be the last
			latest = max(latest, hold)
		}
		if wait > latest {
			wait, w.LastLook = latest, true
		}
		// The look that begins the thresholds may take longer than others did.
		takes := w.timeToConfirm(latest)
		early := (latest - takes) / 10 * 9
		if takes > 0 && wait > early && early > max(w.hintLeft(now), minReserve) {
			wait, w.LastLook = early, false
		}
	}
	w.Due = now.Add(wait)
}

// waitWithoutDeadline returns the wait before the next attempt if there were no deadline. It counts
// from the last attempt, also if an earlier run made that.
func (w *wait) waitWithoutDeadline(now time.Time) time.Duration {
	wait := max(0, w.scheduledWait()-w.passed(now))
	if hint := w.hintLeft(now); hint > 0 {
		share := hintSpread
		if w.wasCut() {
			share = 1
		}
		spread := time.Duration(w.p.Rand.Float64() * share * float64(hint))
		wait = words.Sum(max(wait, hint), spread)
	}
	return wait
}

// readHint takes over the wait that the document of a response names, if that is longer than the wait of its header.
func (w *wait) readHint(o *status.Observation, now time.Time) {
	x := w.p.RetryAfter
	if x == nil || o.Failure != nil || o.Truncated || o.Ended { // the document is not whole
		return
	}
	w.ignored = "" // the note is about the last response
	v := x.Eval(status.Environment(o)).Value()
	if v.Type == "null" || !v.Exists() && !failsOnValue(x, o) {
		return
	}
	wait, ok := hint.Parse(v.Text(), now)
	if !ok {
		w.ignored = x.String() + " is not a wait of at most a year, and was ignored"
	} else if wait > 0 && (o.Hint == nil || o.Hint.Wait < wait) {
		o.Hint = &status.Hint{Wait: wait, Source: x.String()}
	}
}

// failsOnValue reports whether an expression could not be evaluated on a member of an object, such as
// .ms / 1000 on a text. jq fails on a missing member, too: then it fails on an empty object for the same reason.
func failsOnValue(x *expr.Expr, o *status.Observation) bool {
	env := status.Environment(o)
	r := x.Eval(env)
	env.Doc = expr.NewDoc([]byte("{}"))
	isUnknown := r.Value().Type != "missing" && !r.Missing() && !r.Abandoned()
	var members map[string]json.RawMessage
	return isUnknown && r.Value().Reason != x.Eval(env).Value().Reason && json.Unmarshal(o.Body, &members) == nil
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

// scheduledWait returns the schedule's wait. Wait n comes before attempt n+1, not counting
// attempts to start the operation.
func (w *wait) scheduledWait() time.Duration {
	var delay time.Duration
	starts := w.Began.IsZero()
	if w.Attempts == 0 {
		delay = w.p.InitialDelay
		if w.p.Immediate || starts {
			return delay
		}
	}
	if w.confirmAt != nil {
		if left := time.Until(w.confirmAt()); left > 0 {
			return left + w.passed(time.Now())
		}
	}
	schedule, throttled := w.p.Schedule, w.p.Throttled
	if starts && w.p.Resend != nil {
		schedule, throttled = w.p.Resend, backoff.Throttled(w.p.Resend)
	}
	step := backoff.Step{N: w.Attempts - max(w.Sent, w.Anew), Elapsed: time.Since(w.Began), Previous: w.Previous, Refusals: w.Refusals}
	switch {
	case w.isRefused():
		schedule = throttled
		step.Refusals = max(0, step.Refusals-1) // without the response that throttled slows down for
	case w.wasCut():
		schedule = throttled
	}
	if starts {
		step.N, step.Elapsed = w.Sent-1, time.Since(w.Start)
	}
	step.Elapsed = words.Sum(step.Elapsed, delay)
	if streak := w.confirmStreak(); streak > 0 && !w.last.isOutdated { // SUCCESS is to be confirmed soon: the schedule begins anew
		step.N = min(step.N, streak-1)
	}
	w.Previous = schedule.Wait(step, w.p.Rand)
	wait := words.Sum(delay, w.Previous)
	hold := w.toHold()
	if w.listHold != nil {
		hold = w.listHold()
	}
	if hold > 0 {
		wait = min(wait, hold)
	}
	return wait
}

// wasCut reports whether the last attempt was a stream that has ended, perhaps with those of many others.
func (w *wait) wasCut() bool { return w.last.observation != nil && w.last.observation.Ended }

// timeToConfirm returns how long after a first SUCCESS the thresholds can be met; 0 if a SUCCESS has
// been seen already, or if one look is enough. It stops counting once the result is longer than most.
func (w *wait) timeToConfirm(most time.Duration) (takes time.Duration) {
	if w.isToConfirm() {
		return 0
	}
	look := max(minReserve, 2*w.median())
	success := w.p.SuccessThreshold
	if success.Times > 1 {
		var wait time.Duration
		random := rand.New(rand.NewPCG(0, 0)) // nothing is planned by it yet
		for n := 0; n < success.Times-1 && takes < most; n++ {
			wait = w.p.Schedule.Wait(backoff.Step{N: n, Elapsed: takes, Previous: wait, Refusals: w.Refusals}, random)
			takes = words.Sum(takes, words.Sum(wait, look))
		}
	}
	if success.For > 0 {
		takes = max(takes, success.For+look)
	}
	if e := w.p.Elements; e != nil && e.Known == nil && e.Expect <= 0 { // another look has to show nothing new
		takes = words.Sum(takes, confirmDelay+look)
	}
	return takes
}

// confirmStreak returns how often in a row SUCCESS has been seen that is below the thresholds, of any
// element of a list if the wait leads one; 0 if it was not.
func (w *wait) confirmStreak() int {
	switch {
	case w.listStreak != nil:
		return w.listStreak()
	case w.isToConfirm():
		return w.Streak
	}
	return 0
}

// isToConfirm reports whether SUCCESS has been seen, but not often or long enough.
func (w *wait) isToConfirm() bool { return w.Status == status.Success && w.isUnconfirmed() }

// isUnconfirmed reports whether SUCCESS or ERROR has been seen, but not often or long enough.
func (w *wait) isUnconfirmed() bool { return w.Status.Ends() && w.Streak > 0 && !w.decided() }

// toHold returns how much longer the verdict that was seen has to hold, 0 or less if no longer.
func (w *wait) toHold() time.Duration {
	if w.Streak == 0 {
		return 0
	}
	return w.threshold().For - time.Since(w.Since)
}

// reserve returns the time to keep for one more attempt when left is what remains before the
// deadline: twice the median attempt, or the last one if that was slower, at least 50 ms, and the
// time that the last looks of all others take, but at most half of what is left, so that a slow
// probe still gets several looks. If half is too little for such an attempt, more is kept.
func (w *wait) reserve(left time.Duration) time.Duration {
	median, most := max(w.median(), w.Took[w.Attempts%len(w.Took)]), left/2
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
