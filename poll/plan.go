package poll

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

const (
	// minReserve is the least time that is reserved for a last attempt, if so much time is left. With less time
	// before the deadline, no further attempt is planned.
	minReserve = 50 * time.Millisecond
	// unmeasuredReserve is reserved until an attempt has been timed. A larger reserve does no harm: after a quick
	// attempt a later attempt is planned.
	unmeasuredReserve = 2 * time.Second
	// hintSpread limits the random extra time after a hint, as a share of the hint. It keeps clients that got the
	// same hint from returning at the same moment.
	hintSpread = 0.1
)

// A standing is where a wait stands: its state, its settings and its last attempt. Its methods depend on nothing
// else except the time, and next on the jitter of Rand.
type standing struct {
	State
	p        Poller        // with its defaults
	deadline time.Time     // zero = none
	others   time.Duration // how long the last attempts of all other waits take
	last     *conclusion   // the last attempt
}

// A listing is the part of a plan that depends on a list. The zero value belongs to a wait without a list.
type listing struct {
	confirmAt time.Time     // when an attempt can confirm the list, zero if the next attempt has another purpose
	streak    int           // how many complete responses in a row have left SUCCESS of an element to be confirmed
	hold      time.Duration // how much longer the verdicts of all elements have to hold
}

// next returns the time of the next attempt. It comes after the wait of the schedule, or after the wait of the
// server if that wait is longer. It is moved forward to fit before the deadline, but not before a THROTTLED
// response allows it. isLast is true if it was moved to the deadline. previous is the wait that the schedule
// returned.
func (s *standing) next(of listing, now time.Time) (due time.Time, isLast bool, previous time.Duration) {
	wait, previous := max(0, s.Due.Sub(now)), s.Previous
	if s.Due.IsZero() { // otherwise an earlier run has set Due
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
	if of.hold < left { // an earlier attempt cannot be the last
		latest = max(latest, of.hold)
	}
	if wait > latest {
		wait, isLast = latest, true
	}
	// The attempt that starts the thresholds may take longer than earlier attempts.
	takes := s.timeToConfirm(latest)
	early := (latest - takes) / 10 * 9
	if takes > 0 && wait > early && early > max(s.hintLeft(now), minReserve) {
		wait, isLast = early, false
	}
	return now.Add(wait), isLast, previous
}

// waitWithoutDeadline returns the wait before the next attempt as if there were no deadline, and the wait that
// the schedule returned. The wait counts from the last attempt, even if an earlier run made that attempt.
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

// hintLeft returns the rest of the wait that the server requested; 0 without a hint.
func (s *standing) hintLeft(now time.Time) time.Duration {
	if s.Hint == nil {
		return 0
	}
	return max(0, s.Hint.Wait-s.passed(now))
}

// passed returns the time since the last attempt if an earlier run made the attempt; otherwise 0.
func (s *standing) passed(now time.Time) time.Duration {
	if s.last.observation != nil || s.Last.IsZero() {
		return 0
	}
	return now.Sub(s.Last)
}

// scheduledWait returns the wait before the next attempt: the wait of the schedule plus InitialDelay, and at most
// of.hold. Before an attempt that only confirms a list, it is the rest of the time until of.confirmAt. previous is the
// wait of the schedule alone, or s.Previous if the schedule was not called. Wait n comes before attempt n+1. Attempts to
// start the operation do not count.
func (s *standing) scheduledWait(of listing, now time.Time) (wait, previous time.Duration) {
	var delay time.Duration
	starts := s.Began.IsZero()
	if s.Attempts == 0 {
		delay = s.p.InitialDelay
		if s.p.Immediate || starts {
			return delay, s.Previous
		}
	}
	if s.last.isHeld { // the next stream only has to confirm the verdict
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
		step.Refusals = max(0, step.Refusals-1) // throttled itself counts the last refusal
	case s.wasCut():
		schedule = throttled
	}
	if starts {
		step.N, step.Elapsed = s.Sent-1, now.Sub(s.Start)
	}
	step.Elapsed = words.Sum(step.Elapsed, delay)
	if of.streak > 0 && !s.last.isOutdated { // SUCCESS is to be confirmed soon: the schedule restarts
		step.N = min(step.N, of.streak-1)
	}
	previous = schedule.Wait(step, s.p.Rand)
	wait = words.Sum(delay, previous)
	if of.hold > 0 {
		wait = min(wait, of.hold)
	}
	return wait, previous
}

// wasCut reports whether the last attempt was a stream that has ended. The streams of many clients may have
// ended at the same moment.
func (s *standing) wasCut() bool { return s.last.observation != nil && s.last.observation.Ended }

// timeToConfirm returns how long after a first SUCCESS the thresholds can be met. It returns 0 if SUCCESS has
// been seen, or if a single attempt is enough. It stops adding once the result exceeds most.
func (s *standing) timeToConfirm(most time.Duration) (takes time.Duration) {
	if s.isToConfirm() {
		return 0
	}
	attempt := max(minReserve, 2*s.median())
	success := s.p.SuccessThreshold
	if success.Times > 1 {
		var wait time.Duration
		random := rand.New(rand.NewPCG(0, 0)) // the estimate must not use up the jitter of the run
		for n := 0; n < success.Times-1 && takes < most; n++ {
			wait = s.p.Schedule.Wait(backoff.Step{N: n, Elapsed: takes, Previous: wait, Refusals: s.Refusals}, random)
			takes = words.Sum(takes, words.Sum(wait, attempt))
		}
	}
	if success.For > 0 {
		takes = max(takes, success.For+attempt)
	}
	if e := s.p.Elements; e != nil && e.Known == nil && e.Expect <= 0 { // another attempt has to show nothing new
		takes = words.Sum(takes, confirmDelay+attempt)
	}
	return takes
}

// reserve returns the time to reserve for one more attempt if left is the time before the deadline. It is twice
// the median duration of an attempt, or twice the last duration if that is longer, and at least 50 ms. The time
// for the last attempts of all other waits is added. It is at most half of left, so that a slow probe still
// gets several attempts. If half is too short for one such attempt, the result is larger.
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

// median returns the median duration of an attempt, 0 before the first measurement.
func (s *State) median() time.Duration {
	sorted := s.Took
	slices.Sort(sorted[:])
	first, _ := slices.BinarySearch(sorted[:], 1)
	if first == len(sorted) {
		return 0
	}
	return sorted[(first+len(sorted))/2]
}

// measure keeps how long an attempt took, for the time that is reserved for a last attempt. For a stream took is the time
// to the first message.
func (s *standing) measure(took time.Duration, c *conclusion) {
	o, median := c.observation, s.median()
	switch {
	case o.Stopped(), c.verdict.Abandoned:
		if took > median { // the reserved time was too short, and a later run needs more
			s.Took = [len(s.Took)]time.Duration{took}
		}
	case o.Failure != nil && errors.Is(o.Failure.Err, ErrAttemptTimeout):
	case took < median && (c.verdict.Status == status.Throttled || o.Failure != nil && o.Kind != status.KindTCP || s.p.Elements != nil && !o.Good()):
		// A refusal takes less time than a whole response, and so does a failed request or a failure of one page. A
		// refused connection to a port takes as long as an accepted one.
	default:
		s.Took[s.Attempts%len(s.Took)] = max(took, 1) // 0 is an unused entry
	}
}

// endingOf returns how a wait ends after an attempt, "" if it continues. stopped is how the caller, the goal or a closed
// origin ends it. If several endings apply, the first of these counts: the verdict, stopped, the hint, the attempts, the
// deadline.
func (s *standing) endingOf(stopped Ending, now time.Time) Ending {
	switch how := cmp.Or(s.endingByVerdict(), stopped); {
	case how != "":
		return how
	case s.hintTooLong(now):
		return HintTooLong
	case s.p.MaxAttempts > 0 && s.Attempts >= s.p.MaxAttempts:
		return AttemptsExhausted
	case !s.deadline.IsZero() && s.deadline.Sub(now) < minReserve:
		return TimedOut
	}
	return ""
}

// endingByVerdict returns how the last verdict ends a wait, "" if the wait continues.
func (s *standing) endingByVerdict() Ending {
	switch {
	case !s.decided():
		return ""
	case s.Status == status.Error:
		return Failed
	case s.Status == status.Success:
		return Succeeded
	}
	return ""
}

// decided reports whether the verdict ends the wait.
func (s *standing) decided() bool {
	t := s.threshold()
	return t.Times > 0 && s.Streak >= t.Times && s.held() >= t.For
}

// held returns how long the last verdict has held: from the first response with the verdict to the start of the
// last attempt. Changes during the last attempt cannot be observed.
func (s *standing) held() time.Duration { return max(0, s.last.begun.Sub(s.Since)) }

// threshold returns how much of the last verdict ends the wait; zero if that verdict never ends a wait.
func (s *standing) threshold() Threshold {
	switch v := &s.last.verdict; {
	case v.Final:
		return Threshold{Times: 1}
	case v.Status == status.Success:
		return s.p.SuccessThreshold
	case v.Status == status.Error:
		return s.p.ErrorThreshold
	}
	return Threshold{}
}

// isThrottled reports whether the last response was THROTTLED. The end of a stream is not, even with a hint.
func (s *standing) isThrottled() bool { return s.last.verdict.Status == status.Throttled }

// isRefused reports whether the last attempt was THROTTLED and named no wait.
func (s *standing) isRefused() bool { return s.isThrottled() && s.Hint == nil }

// hintTooLong reports whether a THROTTLED response requests a wait that does not fit before the deadline.
func (s *standing) hintTooLong(now time.Time) bool {
	return s.isThrottled() && s.Hint != nil && !s.deadline.IsZero() && s.Hint.Wait >= s.deadline.Sub(now)
}

// isToConfirm reports whether SUCCESS has been seen, but not often or long enough.
func (s *standing) isToConfirm() bool { return s.Status == status.Success && s.isUnconfirmed() }

// isUnconfirmed reports whether SUCCESS or ERROR has been seen, but not often or long enough.
func (s *standing) isUnconfirmed() bool { return s.Status.Ends() && s.Streak > 0 && !s.decided() }

// toHold returns how much longer the verdict that was seen has to hold, 0 or less if no longer.
func (s *standing) toHold(now time.Time) time.Duration {
	if s.Streak == 0 {
		return 0
	}
	return s.threshold().For - now.Sub(s.Since)
}
