package report

import (
	"slices"
	"time"

	"github.com/pollcli/poll/internal/term"
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

// The attempts that a timeline keeps: the first and the last.
const (
	firstMoments = 50
	lastMoments  = 450
)

// A timeline keeps the first and the last attempts of a run of any length.
type timeline struct {
	first []Moment
	last  []Moment // a ring once it is full
	next  int      // the oldest of a full ring
}

func (t *timeline) add(m Moment) {
	switch {
	case len(t.first) < firstMoments:
		t.first = append(t.first, m)
	case len(t.last) < lastMoments:
		t.last = append(t.last, m)
	default:
		t.last[t.next] = m
		t.next = (t.next + 1) % lastMoments
	}
}

// moments returns what was kept, in order.
func (t *timeline) moments() []Moment {
	return slices.Concat(t.first, t.last[t.next:], t.last[:t.next])
}

// moment returns what the timeline keeps of an AttemptEvent.
func moment(ev poll.Event, wait time.Duration) Moment {
	return Moment{
		Attempt: ev.Attempt,
		At:      seconds(ev.Elapsed - ev.Took),
		Status:  ev.Verdict.Status.String(),
		Reason:  term.Line(ev.Verdict.Reason),
		Took:    seconds(ev.Took),
		Wait:    seconds(wait),
	}
}
