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
	ended   time.Duration // the end of the last attempt, or the first event
}

// update reads an event.
func (t *timeline) update(ev poll.Event) {
	if ev.Kind != poll.EventAttempt {
		return
	}
	start := ev.Elapsed - ev.Took
	t.add(Moment{
		Attempt: attemptOf(ev), At: seconds(start), Status: string(ev.Verdict.Status),
		Reason: term.Line(ev.Verdict.Reason), Took: seconds(ev.Took), Wait: seconds(max(0, start-t.ended)),
	})
	t.ended = ev.Elapsed
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
