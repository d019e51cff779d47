package ui

import (
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// A Moment is an attempt in the timeline of a wait.
type Moment struct {
	Attempt int     `json:"attempt"`
	At      Seconds `json:"at_s"` // since the start of the run, the start of the attempt
	Status  string  `json:"status"`
	Reason  string  `json:"reason"`
	Took    Seconds `json:"took_s"`
	Wait    Seconds `json:"wait_s"` // before the attempt
}

// The numbers of the first and of the last attempts that are kept.
const (
	firstMoments = 50
	lastMoments  = 450
)

// A timeline is the attempts of a single wait.
type timeline struct {
	moments []Moment
	wait    poll.Event // the wait before the attempt that is due or running
	held    bool       // the wait was longer than planned
}

// update takes an event.
func (t *timeline) update(ev poll.Event) {
	switch {
	case ev.Kind == poll.EventWait && ev.HeldBy != "":
		t.held = true
	case ev.Kind == poll.EventWait:
		t.wait, t.held = ev, false
	case ev.Kind == poll.EventAttempt:
		wait := t.wait.Wait
		if t.held {
			wait = max(0, ev.At.Add(-ev.Took).Sub(t.wait.At))
		}
		t.add(Moment{
			Attempt: attemptOf(ev), At: seconds(ev.Elapsed - ev.Took), Status: string(ev.Verdict.Status),
			Reason: term.Line(ev.Verdict.Reason), Took: seconds(ev.Took), Wait: seconds(wait),
		})
	}
}

func (t *timeline) add(m Moment) {
	if len(t.moments) == firstMoments+lastMoments {
		t.moments = slices.Delete(t.moments, firstMoments, firstMoments+1)
	}
	t.moments = append(t.moments, m)
}

// Seconds is a number of seconds in JSON, to the millisecond.
type Seconds float64

func seconds(d time.Duration) Seconds {
	return Seconds(math.Round(d.Seconds()*1000) / 1000)
}
