package poll

import (
	"context"
	"fmt"
	"time"
)

// Why the targets of a group that have not ended are cancelled.
var (
	errReached    = fmt.Errorf("%w: the goal was reached", Cancelled)
	errOutOfReach = fmt.Errorf("%w: the goal is out of reach", Cancelled)
	errOver       = fmt.Errorf("%w: poll waits for nothing any more", Cancelled)
)

// A score is how far a group is.
type score struct {
	Summary
	live    int // targets that have not ended
	failed  int // targets, and lists, that have ended without success
	lists   int // that are not over
	growing int // those of them that may find more targets
	missing int // how many more targets the lists should have
}

// goal returns the last event.
func (l *loop) goal() Event {
	now, s := time.Now(), l.Summary
	s.Elapsed, s.Ending = now.Sub(l.Start), Succeeded
	needsAll := l.needed() <= 0
	if s.Need = l.needed(); needsAll {
		s.Need = s.Targets + l.missing
	}
	isOpen := l.Percent > 0 && l.missing > 0 // a share of what is not known
	if len(l.sources) == 0 || s.Endings[Succeeded] < s.Need || isOpen || needsAll && l.failed > 0 {
		s.Ending = gravest(s.Endings)
	}
	if s.Ending == Interrupted || s.Ending == TimedOut {
		s.Cause = context.Cause(l.caller)
	}
	return Event{Kind: EventGoal, At: now, Elapsed: s.Elapsed, Deadline: l.deadline, Summary: &s}
}

// gravest returns the ending of a group whose goal was not reached.
func gravest(endings map[Ending]int) Ending {
	for _, e := range [...]Ending{Interrupted, CannotRun, Failed, HintTooLong, AttemptsExhausted, TimedOut} {
		if endings[e] > 0 {
			return e
		}
	}
	return Failed
}
