package report

import (
	"slices"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A run is what has been seen of one run so far.
type run struct {
	id          poll.RunID
	target      string
	began       time.Time
	deadline    time.Time // zero = never
	maxAttempts int       // 0 = no limit

	at      poll.Event  // the last event: where the run is now
	last    *poll.Event // the last AttemptEvent, nil before the first
	wait    time.Duration
	waits   int           // made before attempts
	waited  time.Duration // in all
	took    span          // of the attempts
	states  []state       // in the order in which they were first seen
	next    string        // where the attempts look now, if it is another place
	history timeline
}

// note brings the run up to date.
func (u *run) note(ev poll.Event) {
	if u.at.Kind == 0 {
		u.began, u.deadline, u.maxAttempts = ev.At.Add(-ev.Elapsed), ev.Deadline, ev.MaxAttempts
	}
	switch ev.Kind {
	case poll.EventWait:
		u.wait = ev.Wait
		if ev.Wait > 0 {
			u.waits++
		}
	case poll.EventAttempt:
		u.history.add(moment(ev, u.wait))
		u.took.add(ev.Took)
		u.wait = 0
	}
	if u.at.Kind == poll.EventWait {
		u.waited += ev.At.Sub(u.at.At)
	}
	u.remember(ev)
	u.at = ev
}

// remember counts the statuses and how long each was the last one known.
func (u *run) remember(ev poll.Event) {
	if u.last != nil {
		u.state(u.status()).lasted += ev.At.Sub(u.at.At)
	}
	if ev.Kind == poll.EventAttempt {
		u.last = &ev
		u.state(u.status()).attempts++
	}
}

// A state is a status that was seen.
type state struct {
	status   status.Status
	attempts int
	lasted   time.Duration
}

func (u *run) state(s status.Status) *state {
	i := slices.IndexFunc(u.states, func(x state) bool { return x.status == s })
	if i < 0 {
		i = len(u.states)
		u.states = append(u.states, state{status: s})
	}
	return &u.states[i]
}

// A span is what there is to say of many durations.
type span struct {
	n             int
	min, max, sum time.Duration
}

func (s *span) add(d time.Duration) {
	if s.n == 0 || d < s.min {
		s.min = d
	}
	s.max = max(s.max, d)
	s.sum += d
	s.n++
}

// ended reports whether nothing more is to come.
func (u *run) ended() bool { return u.at.Kind == poll.EventEnd }

// elapsed is the age of the run, 0 where the clock was set back.
func (u *run) elapsed(now time.Time) time.Duration { return max(0, now.Sub(u.began)) }

// age is how long the operation has been running, 0 before it was started.
func (u *run) age(now time.Time) time.Duration {
	if u.at.Began.IsZero() {
		return 0
	}
	return max(0, now.Sub(u.at.Began))
}

// status is that of the last attempt, None before the first.
func (u *run) status() status.Status {
	if u.last == nil {
		return status.None
	}
	return u.last.Verdict.Status
}

// timeout is the time the run has from its start on, 0 for no limit.
func (u *run) timeout() time.Duration {
	if u.deadline.IsZero() {
		return 0
	}
	return u.deadline.Sub(u.began)
}
