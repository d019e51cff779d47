package report

import (
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A run is what has been seen of one target so far.
type run struct {
	target      string
	began       time.Time
	deadline    time.Time // zero = never
	maxAttempts int       // 0 = no limit

	at      poll.Event  // the last event: where the run is now
	last    *poll.Event // the last AttemptEvent, nil before the first
	wait    time.Duration
	waits   int           // made before attempts
	waited  time.Duration // in all
	next    string        // where the attempts look now, if it is another place
	history timeline
}

// note brings the run up to date.
func (u *run) note(ev poll.Event) {
	if u.at.Kind == 0 {
		u.began, u.deadline, u.maxAttempts = ev.At.Add(-ev.Elapsed), ev.Deadline, ev.MaxAttempts
	}
	switch ev.Kind {
	case poll.WaitEvent:
		u.wait = ev.Wait
		u.waits++
	case poll.StartEvent:
		if u.at.Kind == poll.WaitEvent {
			u.waited += ev.At.Sub(u.at.At)
		}
	case poll.AttemptEvent:
		u.last = &ev
		u.history.add(moment(ev, u.wait))
		u.wait = 0
	}
	u.at = ev
}

// ended reports whether nothing more is to come.
func (u *run) ended() bool { return u.at.Kind == poll.EndEvent }

// elapsed is the age of the run.
func (u *run) elapsed(now time.Time) time.Duration { return now.Sub(u.began) }

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
