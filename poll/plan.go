package poll

import (
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
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

// A listing is what a list adds to the plan of its next attempt. The zero value is that of a wait without a list.
type listing struct {
	confirmAt time.Time     // when an attempt only confirms the list, zero if the next attempt does more
	streak    int           // how many complete responses in a row have left SUCCESS of an element to be confirmed
	hold      time.Duration // how much longer the verdicts of all elements have to hold
}

// next returns when the next attempt comes: after the schedule's own wait, or after the server's if that is longer, but
// so that it fits before the deadline, and not sooner than a THROTTLED response asks for. previous is the schedule's own
// wait.
func (s *standing) next(of listing, now time.Time) (due time.Time, isLast bool, previous time.Duration) {
	wait, previous := max(0, s.Due.Sub(now)), s.Previous
	if s.Due.IsZero() { // otherwise it is that of an earlier run
		wait, previous = s.waitWithoutDeadline(of, now)
	}
	if s.deadline.IsZero() {
		return now.Add(wait), false, previous
	}
	left, least := s.deadline.Sub(now), time.Duration(0)
	if s.isThrottled() {
		least = s.hintLeft(now)
	}
	latest := max(left-s.reserve(left), least, 0)
	if of.hold < left { // an attempt before that cannot be the last
		latest = max(latest, of.hold)
	}
	if wait > latest {
		wait, isLast = latest, true
	}
	// The attempt that begins the thresholds may take longer than others did.
	takes := s.timeToConfirm(latest)
	early := (latest - takes) / 10 * 9
	if takes > 0 && wait > early && early > max(s.hintLeft(now), minReserve) {
		wait, isLast = early, false
	}
	return now.Add(wait), isLast, previous
}

// waitWithoutDeadline returns the wait before the next attempt if there were no deadline, and the schedule's own wait. The
// wait counts from the last attempt, also if an earlier run made that.
func (s *standing) waitWithoutDeadline(of listing, now time.Time) (wait, previous time.Duration) {
	wait, previous = s.scheduledWait(of, now)
	wait = max(0, wait-s.passed(now))
	if hint := s.hintLeft(now); hint > 0 {
		share := hintSpread
		if s.wasCut() {
			share = 1
		}
		spread := time.Duration(s.p.Rand.Float64() * share * float64(hint))
		wait = words.Sum(max(wait, hint), spread)
	}
	return wait, previous
}

// hintLeft returns what is left of the wait that the server asked for.
func (s *standing) hintLeft(now time.Time) time.Duration {
	if s.Hint == nil {
		return 0
	}
	return max(0, s.Hint.Wait-s.passed(now))
}

// passed returns the time since the last attempt if an earlier run made that.
func (s *standing) passed(now time.Time) time.Duration {
	if s.last.observation != nil || s.Last.IsZero() {
		return 0
	}
	return now.Sub(s.Last)
}

// scheduledWait returns the wait of the schedule, with the InitialDelay, and the schedule's own wait. Wait n comes before
// attempt n+1, not counting attempts to start the operation.
func (s *standing) scheduledWait(of listing, now time.Time) (wait, previous time.Duration) {
	var delay time.Duration
	starts := s.Began.IsZero()
	if s.Attempts == 0 {
		delay = s.p.InitialDelay
		if s.p.Immediate || starts {
			return delay, s.Previous
		}
	}
	if s.last.isHeld { // the next stream has only to say the same again
		return delay, s.Previous
	}
	if left := of.confirmAt.Sub(now); !of.confirmAt.IsZero() && left > 0 {
		return left + s.passed(now), s.Previous
	}
	schedule, throttled := s.p.Schedule, s.p.Throttled
	if starts && s.p.Resend != nil {
		schedule, throttled = s.p.Resend, backoff.Throttled(s.p.Resend)
	}
	step := backoff.Step{N: s.Attempts - max(s.Sent, s.Anew), Elapsed: now.Sub(s.Began), Previous: s.Previous, Refusals: s.Refusals}
	switch {
	case s.isRefused():
		schedule = throttled
		step.Refusals = max(0, step.Refusals-1) // without the response that throttled slows down for
	case s.wasCut():
		schedule = throttled
	}
	if starts {
		step.N, step.Elapsed = s.Sent-1, now.Sub(s.Start)
	}
	step.Elapsed = words.Sum(step.Elapsed, delay)
	if of.streak > 0 && !s.last.isOutdated { // SUCCESS is to be confirmed soon: the schedule begins anew
		step.N = min(step.N, of.streak-1)
	}
	previous = schedule.Wait(step, s.p.Rand)
	wait = words.Sum(delay, previous)
	if of.hold > 0 {
		wait = min(wait, of.hold)
	}
	return wait, previous
}

// wasCut reports whether the last attempt was a stream that has ended, perhaps with those of many others.
func (s *standing) wasCut() bool { return s.last.observation != nil && s.last.observation.Ended }

// timeToConfirm returns how long after a first SUCCESS the thresholds can be met; 0 if a SUCCESS has
// been seen already, or if one look is enough. It stops counting once the result is longer than most.
func (s *standing) timeToConfirm(most time.Duration) (takes time.Duration) {
	if s.isToConfirm() {
		return 0
	}
	look := max(minReserve, 2*s.median())
	success := s.p.SuccessThreshold
	if success.Times > 1 {
		var wait time.Duration
		random := rand.New(rand.NewPCG(0, 0)) // nothing is planned by it yet
		for n := 0; n < success.Times-1 && takes < most; n++ {
			wait = s.p.Schedule.Wait(backoff.Step{N: n, Elapsed: takes, Previous: wait, Refusals: s.Refusals}, random)
			takes = words.Sum(takes, words.Sum(wait, look))
		}
	}
	if success.For > 0 {
		takes = max(takes, success.For+look)
	}
	if e := s.p.Elements; e != nil && e.Known == nil && e.Expect <= 0 { // another look has to show nothing new
		takes = words.Sum(takes, confirmDelay+look)
	}
	return takes
}

// reserve returns the time to keep for one more attempt when left is what remains before the
// deadline: twice the median attempt, or the last one if that was slower, at least 50 ms, and the
// time that the last looks of all others take, but at most half of what is left, so that a slow
// probe still gets several looks. If half is too little for such an attempt, more is kept.
func (s *standing) reserve(left time.Duration) time.Duration {
	median, most := max(s.median(), s.Took[s.Attempts%len(s.Took)]), left/2
	if median == 0 {
		return min(unmeasuredReserve+s.others, most)
	}
	if most < median && median < left {
		most = left - (left-median)/2
	}
	return min(max(minReserve, 2*median)+s.others, most)
}

// earliest returns the earlier of two times, of which zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
