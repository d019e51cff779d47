package poll

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

const (
	// minReserve is the minimum time reserved before the deadline for a last attempt. If less time is left, no
	// further attempt is planned.
	minReserve = 50 * time.Millisecond
	// unmeasuredReserve is the time reserved for a last attempt as long as no attempt has been timed. A
	// generous value does no harm: if the attempt turns out to be quick, a later attempt is planned as well.
	unmeasuredReserve = 2 * time.Second
	// retryAfterSpread is the maximum random time added to the wait that a server requested, as a share of that wait.
	// It prevents clients that received the same response from returning at the same moment.
	retryAfterSpread = 0.1
)

// listing holds the contribution of a list to the plan for the next attempt. It is zero for a wait without a list.
type listing struct {
	confirmAt time.Time     // time from which an attempt can confirm the list; zero if the next attempt has another purpose
	streak    int           // number of consecutive complete responses after which some element's SUCCESS still had to be confirmed
	hold      time.Duration // time until the verdict on each element has lasted as long as its threshold requires
}

// next returns due, the time of the next attempt. It follows the schedule, or the wait that the server
// requested if that is longer. If that would leave too little time before the deadline, due is moved to an
// earlier time that leaves just enough time for an attempt, and isLast is true. However, due is never before
// the time that a THROTTLED response allows. previous is the wait that the schedule returned.
func (w *wait) next(of listing, now time.Time) (due time.Time, isLast bool, previous time.Duration) {
	wait, previous := max(0, w.Due.Sub(now)), w.Previous
	if w.Due.IsZero() { // Due is set only if an earlier run planned the attempt
		wait, previous = w.waitWithoutDeadline(of, now)
	}
	if w.deadline.IsZero() {
		return now.Add(wait), false, previous
	}
	left, least := w.deadline.Sub(now), time.Duration(0)
	if w.isThrottled() {
		least = w.retryAfterLeft(now)
	}
	latest := max(left-w.reserve(left), least, 0)
	if of.hold < left { // before of.hold has passed, no SUCCESS could end the wait
		latest = max(latest, of.hold)
	}
	if wait > latest {
		wait, isLast = latest, true
	}
	// Leave time to reach the success threshold. The first successful attempt may take longer than earlier
	// attempts.
	takes := w.timeToConfirm(latest)
	early := (latest - takes) / 10 * 9
	if takes > 0 && wait > early && early > max(w.retryAfterLeft(now), minReserve) {
		wait, isLast = early, false
	}
	return now.Add(wait), isLast, previous
}

// waitWithoutDeadline returns the wait before the next attempt, not considering the deadline, and the wait that
// the schedule returned. The wait counts from the end of the last attempt, even if an earlier run made that
// attempt.
func (w *wait) waitWithoutDeadline(of listing, now time.Time) (wait, previous time.Duration) {
	wait, previous = w.scheduledWait(of, now)
	wait = max(0, wait-w.passed(now))
	if asked := w.retryAfterLeft(now); asked > 0 {
		share := retryAfterSpread
		if w.endedStream() {
			share = 1
		}
		spread := time.Duration(w.p.Rand.Float64() * share * float64(asked))
		wait = words.Sum(max(wait, asked), spread)
	}
	return wait, previous
}

// retryAfterLeft returns the remaining part of the wait that the server requested, or 0 if it requested none.
func (w *wait) retryAfterLeft(now time.Time) time.Duration {
	if w.RetryAfter == nil {
		return 0
	}
	return max(0, w.RetryAfter.Wait-w.passed(now))
}

// passed returns the time since the last attempt if that attempt was made in an earlier run, and 0 otherwise.
func (w *wait) passed(now time.Time) time.Duration {
	if w.last.observation != nil || w.Last.IsZero() {
		return 0
	}
	return now.Sub(w.Last)
}

// scheduledWait returns the wait before the next attempt according to the schedule, plus InitialDelay before
// the first attempt. The result is at most of.hold, if of.hold is positive. If the attempt only confirms a
// list, the result is the time until of.confirmAt. previous is the schedule's wait alone, or w.Previous if the
// schedule was not used. Attempts that send the start request are not counted as steps of the schedule.
func (w *wait) scheduledWait(of listing, now time.Time) (wait, previous time.Duration) {
	var delay time.Duration
	starts := w.Began.IsZero()
	if w.Attempts == 0 {
		delay = w.p.InitialDelay
		if w.p.Immediate || starts {
			return delay, w.Previous
		}
	}
	if w.last.isHeld { // the next attempt only confirms the verdict of a stream, so it may follow at once
		return delay, w.Previous
	}
	if left := of.confirmAt.Sub(now); !of.confirmAt.IsZero() && left > 0 {
		return left + w.passed(now), w.Previous
	}
	schedule, throttled := w.p.Schedule, w.p.Throttled
	if starts && w.p.Resend != nil {
		schedule, throttled = w.p.Resend, backoff.Throttled(w.p.Resend)
	}
	step := backoff.Step{N: w.Attempts - max(w.Sent, w.Anew), Elapsed: now.Sub(w.Began), Previous: w.Previous, Refusals: w.Refusals}
	switch {
	case w.isRefused():
		schedule = throttled
		step.Refusals = max(0, step.Refusals-1) // the schedule called throttled already accounts for the last rejection
	case w.endedStream():
		schedule = throttled
	}
	if starts {
		step.N, step.Elapsed = w.Sent-1, now.Sub(w.Start)
	}
	step.Elapsed = words.Sum(step.Elapsed, delay)
	if of.streak > 0 && !w.last.isOutdated { // restart the schedule, so that SUCCESS is confirmed soon
		step.N, step.Refusals = min(step.N, of.streak-1), 0
	}
	previous = schedule.Wait(step, w.p.Rand)
	wait = words.Sum(delay, previous)
	if of.hold > 0 {
		wait = min(wait, of.hold)
	}
	return wait, previous
}

// endedStream reports whether the last attempt was a stream that ended. Since the streams of many clients may end at
// the same moment, the next wait is random.
func (w *wait) endedStream() bool { return w.last.observation != nil && w.last.observation.Ended }

// timeToConfirm estimates how long it takes from a first SUCCESS until its threshold is reached, and the list
// is confirmed. It returns 0 if SUCCESS has already been seen, or if one SUCCESS is enough. timeToConfirm stops
// counting attempts once the estimate reaches the parameter most, so a longer estimate may be too low.
func (w *wait) timeToConfirm(most time.Duration) (takes time.Duration) {
	if w.isToConfirm() {
		return 0
	}
	attempt := max(minReserve, 2*w.median())
	success := w.success
	if success.Times > 1 {
		var wait time.Duration
		random := rand.New(rand.NewPCG(0, 0)) // a separate source, so that the estimate does not change the random waits of the run
		for n := 0; n < success.Times-1 && takes < most; n++ {
			wait = w.p.Schedule.Wait(backoff.Step{N: n, Elapsed: takes, Previous: wait}, random)
			takes = words.Sum(takes, words.Sum(wait, attempt))
		}
	}
	if success.For > 0 {
		takes = max(takes, success.For+attempt)
	}
	if e := w.p.Elements; e != nil && e.Known == nil && e.Expect <= 0 { // another attempt must confirm the list
		takes = words.Sum(takes, confirmDelay+attempt)
	}
	return takes
}

// reserve returns how much of left, the time before the deadline, to reserve for one more attempt. The result
// is twice the longer of the median and the last duration of an attempt, and at least 50 ms, plus the time for
// the last attempts of all other waits. If no attempt has been timed, 2 s are used for the attempt itself.
// However, it is at most half of left, so that several slow attempts remain possible. If half of left is too
// short for even one attempt of median duration, the result is larger.
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

// median returns the median duration of the recent attempts, or 0 if no attempt has been timed.
func (w *wait) median() time.Duration {
	sorted := w.Took
	slices.Sort(sorted[:])
	first, _ := slices.BinarySearch(sorted[:], 1)
	if first == len(sorted) {
		return 0
	}
	return sorted[(first+len(sorted))/2]
}

// measure records took, the duration of the attempt with the conclusion c. The recorded durations determine how
// much time is reserved for a last attempt. For a stream, took is the time to the first message.
func (w *wait) measure(took time.Duration, c *conclusion) {
	o, median := c.observation, w.median()
	switch {
	case o.Stopped(), c.verdict.Abandoned:
		if took > median { // the attempt ran out of time, so a later run has to reserve more time
			w.Took = [len(w.Took)]time.Duration{took}
		}
	case o.Failure != nil && errors.Is(o.Failure.Err, ErrAttemptTimeout):
	case took < median && (c.verdict.Status == status.Throttled || o.Failure != nil && o.Kind != status.KindTCP || w.p.Elements != nil && !o.Good()):
		// A rejected or failed request usually takes less time than a full response, so it must not lower the
		// median. A refused TCP connection is different: it takes as long as an accepted connection.
	default:
		w.Took[w.Attempts%len(w.Took)] = max(took, 1) // at least 1, because 0 marks an unused entry
	}
}

// decided reports whether the last verdict ends the wait: it is SUCCESS or ERROR, and has reached its
// threshold.
func (w *wait) decided() bool {
	t := w.threshold()
	return t.Times > 0 && w.Streak >= t.Times && w.held() >= t.For
}

// held returns how long the last verdict has been unchanged: from the first response with this verdict to the
// start of the last attempt. Time during the last attempt does not count, because changes in that time cannot
// be observed.
func (w *wait) held() time.Duration { return max(0, w.last.begun.Sub(w.Since)) }

// threshold returns the threshold that the last verdict has to reach to end the wait. It is zero if the verdict
// cannot end a wait.
func (w *wait) threshold() Threshold {
	switch v := &w.last.verdict; {
	case v.Final:
		return Threshold{Times: 1}
	case v.Status == status.Success:
		return *w.success
	case v.Status == status.Error:
		return w.p.ErrorThreshold
	}
	return Threshold{}
}

// isThrottled reports whether the last verdict was THROTTLED. The end of a stream is not THROTTLED, even if the
// server requested a wait.
func (w *wait) isThrottled() bool { return w.last.verdict.Status == status.Throttled }

// isRefused reports whether the last verdict was THROTTLED and the response requested no particular wait.
func (w *wait) isRefused() bool { return w.isThrottled() && w.RetryAfter == nil }

// hintTooLong reports whether a THROTTLED response requests a wait that does not end before the deadline.
func (w *wait) hintTooLong(now time.Time) bool {
	return w.isThrottled() && w.RetryAfter != nil && !w.deadline.IsZero() && w.RetryAfter.Wait >= w.deadline.Sub(now)
}

// isToConfirm reports whether the current status is SUCCESS, but its threshold has not been reached.
func (w *wait) isToConfirm() bool { return w.Status == status.Success && w.isUnconfirmed() }

// isUnconfirmed reports whether the current status is SUCCESS or ERROR, but its threshold has not been reached.
func (w *wait) isUnconfirmed() bool { return w.Status.Ends() && w.Streak > 0 && !w.decided() }

// timeToHold returns how much longer the current verdict has to last to reach the For of its threshold. It returns
// 0 or less if the verdict has lasted long enough.
func (w *wait) timeToHold(now time.Time) time.Duration {
	if w.Streak == 0 {
		return 0
	}
	return w.threshold().For - max(0, now.Sub(w.Since)) // the verdict may have changed after now
}
