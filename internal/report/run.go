package report

import (
	"slices"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A run is what is known of one run so far, and what a log has written about it.
type run struct {
	latest    poll.Event  // where the run is now
	attempt   *poll.Event // the last EventAttempt, nil before the first
	attempts  int
	taken     int           // of them
	took      time.Duration // of the others
	longest   time.Duration // of one attempt
	wait      time.Duration // before the attempt that is due or running
	waitBegan time.Time     // the wait
	held      bool          // after it
	waits     int
	waited    time.Duration // in total
	statuses  []statusCount // in the order of first sight
	timeline  timeline
	reading   *reading // of the last answer that says anything, nil for nothing
	scale     scale
	logged    logged
}

// A statusCount is how often a status was seen, and how long it was the latest.
type statusCount struct {
	status   status.Status
	attempts int
	lasted   time.Duration
}

// update brings the run up to date.
func (u *run) update(ev poll.Event) {
	if ev.Kind == poll.EventPlace {
		return // it is about attempts of others, too
	}
	passed := ev.At.Sub(u.latest.At)
	if u.latest.Kind == poll.EventWait {
		u.waited += passed
	}
	if u.attempt != nil {
		u.count(u.status()).lasted += passed
	}
	switch ev.Kind {
	case poll.EventWait:
		if ev.HeldBy != "" {
			u.held = true
			break
		}
		u.wait, u.waitBegan, u.held = ev.Wait, ev.At, false
		if ev.Wait > 0 {
			u.waits++
		}
	case poll.EventAttempt:
		u.attempt = &ev
		u.attempts++
		u.count(u.status()).attempts++
		taken := ev.Observation != nil && ev.Observation.Taken
		if taken {
			u.taken++
		}
		if taken || u.held { // so the wait was not as it was planned
			u.wait = max(0, ev.At.Add(-ev.Took).Sub(u.waitBegan))
		}
		u.took += ev.Took
		u.longest = max(u.longest, ev.Took)
		u.timeline = u.timeline.add(Moment{
			Attempt: ev.State.Attempts,
			At:      seconds(ev.Elapsed - ev.Took),
			Status:  ev.Verdict.Status.String(),
			Reason:  term.Line(ev.Verdict.Reason),
			Took:    seconds(ev.Took),
			Taken:   taken,
			Wait:    seconds(u.wait),
		})
		u.wait = 0
	}
	u.latest = ev
}

// count returns the count of a status, a new one if it was not seen before.
func (u *run) count(s status.Status) *statusCount {
	i := slices.IndexFunc(u.statuses, func(c statusCount) bool { return c.status == s })
	if i < 0 {
		i = len(u.statuses)
		u.statuses = append(u.statuses, statusCount{status: s})
	}
	return &u.statuses[i]
}

// elapsed returns the age of the run, 0 if the clock was set back.
func (u *run) elapsed(now time.Time) time.Duration {
	return max(0, u.latest.Elapsed+now.Sub(u.latest.At))
}

// age returns how long the operation has been running, 0 before its start.
func (u *run) age(now time.Time) time.Duration {
	if u.latest.State.Began.IsZero() {
		return 0
	}
	return max(0, now.Sub(u.latest.State.Began))
}

// status returns the status of the last attempt, None before the first.
func (u *run) status() status.Status {
	if u.attempt == nil {
		return status.None
	}
	return u.attempt.Verdict.Status
}

// timeout returns the time limit of the run, 0 for none.
func (u *run) timeout() time.Duration {
	if u.latest.Deadline.IsZero() {
		return 0
	}
	return u.latest.Deadline.Sub(u.latest.At) + u.latest.Elapsed
}

// A Moment is one attempt in an outcome's timeline.
type Moment struct {
	Attempt int     `json:"attempt"`
	At      Seconds `json:"at_s"` // since the start of the run, when the attempt began
	Status  string  `json:"status"`
	Reason  string  `json:"reason"`
	Took    Seconds `json:"took_s"`
	Wait    Seconds `json:"wait_s"`          // before the attempt
	Taken   bool    `json:"taken,omitempty"` // another process made it
}

// How many of the first and the last attempts are kept, however long the run is.
const (
	firstMoments = 50
	lastMoments  = 450
)

// A timeline holds the first attempts and, in twice the room so that few are moved,
// the last.
type timeline []Moment

func (t timeline) add(m Moment) timeline {
	if len(t) == firstMoments+2*lastMoments {
		t = slices.Delete(t, firstMoments, len(t)-lastMoments)
	}
	return append(t, m)
}

func (t timeline) moments() []Moment {
	first := min(len(t), firstMoments)
	return slices.Concat(t[:first], t[max(first, len(t)-lastMoments):])
}
