package poll

import (
	"time"

	"github.com/pollcli/poll/status"
)

// conclude returns the state after an attempt, or a message, that ended at now. isBetween means that the verdict
// neither confirms nor breaks the verdicts before.
func conclude(s State, j *judgement, isBetween bool, now time.Time) State {
	o, v := j.observation, j.verdict
	s.Hint, s.Reason = o.Hint, v.Reason
	switch {
	case isBetween, isStreamEnd(j):
		return s
	case isCut(j) && s.Streak > 0 && s.Status.Ends(): // the next run confirms what this one has seen
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
