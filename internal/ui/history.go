package ui

import (
	"slices"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// A Moment is one attempt in an outcome's timeline.
type Moment struct {
	Attempt int     `json:"attempt"`
	At      Seconds `json:"at_s"` // since the start of the run, when the attempt began
	Status  string  `json:"status"`
	Reason  string  `json:"reason"`
	Took    Seconds `json:"took_s"`
	Wait    Seconds `json:"wait_s"` // before the attempt
}

// How many of the first and the last attempts are kept, however long the run is.
const (
	firstMoments = 50
	lastMoments  = 450
)

// A history is the attempts of a single wait.
type history struct {
	moments []Moment
	wait    poll.Event // before the attempt that is due or running
	held    bool       // longer than was planned
}

// update notes an event.
func (h *history) update(ev poll.Event) {
	switch {
	case ev.Kind == poll.EventWait && ev.HeldBy != "":
		h.held = true
	case ev.Kind == poll.EventWait:
		h.wait, h.held = ev, false
	case ev.Kind == poll.EventAttempt:
		wait := h.wait.Wait
		if h.held {
			wait = max(0, ev.At.Add(-ev.Took).Sub(h.wait.At))
		}
		h.add(Moment{
			Attempt: attemptOf(ev), At: seconds(ev.Elapsed - ev.Took), Status: string(ev.Verdict.Status),
			Reason: term.Line(ev.Verdict.Reason), Took: seconds(ev.Took), Wait: seconds(wait),
		})
	}
}

func (h *history) add(m Moment) {
	if len(h.moments) == firstMoments+lastMoments {
		h.moments = slices.Delete(h.moments, firstMoments, firstMoments+1)
	}
	h.moments = append(h.moments, m)
}
