package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A sighting is what the attempts of a run have seen of the end of the
// operation, by its age.
type sighting struct {
	last       status.Status
	unfinished time.Duration // the last attempt that saw it unfinished began, 0 if none did
	finished   time.Duration // the first of the attempts that see it finished had ended
}

// see takes note of an attempt. THROTTLED says nothing of the operation, and
// neither does an attempt that was ended from outside. Of several attempts that
// a threshold asks for, the first saw the end.
func (s *sighting) see(ev poll.Event) {
	if ev.Kind != poll.EventAttempt || ev.Observation != nil && ev.Observation.Stopped() {
		return
	}
	now := ev.Verdict.Status
	if ofResult(ev.Observation) {
		now = status.Success
	}
	switch now {
	case status.NotReady:
		s.unfinished = max(0, ev.Age()-ev.Took)
	case status.Success, status.Error:
		if now != s.last {
			s.finished = ev.Age()
		}
	}
	s.last = now
}

// ofResult reports whether an attempt looked for the result of an operation
// that was known to be done.
func ofResult(o *status.Observation) bool {
	return o != nil && o.Following.Monitor == status.MonitorResult
}

// record is what is remembered of a run, if anything.
func (l *lesson) record(ctx context.Context, o poll.Outcome) (history.Record, bool) {
	outcome, ok := remembered(o)
	r := history.Record{End: time.Now(), Outcome: outcome}
	if l.seen.unfinished > 0 {
		r.Lo = backoff.Add(l.age, l.seen.unfinished)
	}
	if !outcome.Finished() {
		return r, ok
	}
	r.Hi = backoff.Add(l.age, l.seen.finished)
	if l.startedAt == nil {
		// An end seen by the first look at an operation that was old already may
		// have come at any age below that: nothing to learn from.
		return r, ok && (l.age == 0 || l.seen.unfinished > 0)
	}
	took, err := l.took(ctx, o.Observation)
	if err != nil {
		l.trouble = append(l.trouble, fmt.Sprintf("how long it took is known by its attempts only: %v", err))
		return r, ok
	}
	r.Lo, r.Hi = took, took
	return r, ok
}

// remembered is how a run ended in the words of a history, false if the run
// tells nothing of the operation. A wait that had enough before the end, for
// whatever reason, is a timeout.
func remembered(o poll.Outcome) (history.Outcome, bool) {
	if ofResult(o.Observation) {
		return history.Success, true
	}
	switch o.Ending {
	case poll.Succeeded:
		return history.Success, true
	case poll.Failed:
		return failed(o)
	case poll.TimedOut, poll.AttemptsExhausted, poll.HintTooLong:
		return history.Timeout, o.Attempts > 0
	case poll.Interrupted:
		return history.Interrupted, o.Attempts > 0
	}
	return "", false
}

// failed tells a failure of the operation, which a rule or a good answer
// states, from one of the probe, such as a password that is wrong.
func failed(o poll.Outcome) (history.Outcome, bool) {
	switch {
	case o.Observation == nil:
		return "", false
	case o.Verdict.Rule != "", o.Observation.Good() && !o.Observation.Following.Start:
		return history.Failure, true
	}
	return "", false
}
