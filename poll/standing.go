package poll

import (
	"cmp"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// A standing is where a wait stands: its state, its settings and its last attempt. Its methods depend on nothing
// else except the time, and next on the jitter of Rand.
type standing struct {
	State
	p        Poller        // with its defaults
	deadline time.Time     // zero = none
	others   time.Duration // how long the last attempts of all other sources take
	last     *judgement    // the last attempt
}

// conclude returns the state after an attempt, or a message, that ended at now. isBetween means that the verdict
// neither confirms nor breaks the verdicts before.
func conclude(s State, j *judgement, isBetween bool, now time.Time) State {
	o, v := j.observation, j.verdict
	s.Hint, s.Reason = o.Hint, v.Reason
	switch {
	case isBetween, isStreamEnd(j):
		return s
	case isCut(j) && s.Streak > 0 && s.Status.Ends(): // the next run confirms the verdicts of this run
		return s
	case isCut(j):
		s.Status, s.Streak = v.Status, 0
		return s
	case v.Status != s.Status:
		s.Streak = 0
	}
	if s.Streak == 0 || s.Since.IsZero() {
		s.Since = now
	}
	s.Status = v.Status
	s.Streak++
	return s
}

// isCut reports whether an attempt shows nothing: the run ended before the response, or before the rules were evaluated.
func isCut(j *judgement) bool { return j.observation.Stopped() || j.verdict.Abandoned }

// isStreamEnd reports whether an attempt is the end of a stream that decides nothing, so that the verdict of the messages
// holds.
func isStreamEnd(j *judgement) bool {
	return j.observation.Ended && j.verdict.Status == status.NotReady
}

// endingOf returns how a wait ends after an attempt, "" if it continues. stopped is how the caller, the goal or a closed
// place ends it. If several endings apply, the first of these counts: the verdict, stopped, the hint, the attempts, the
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
