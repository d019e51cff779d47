package poll

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Why the targets of a group that have not ended are cancelled.
var (
	errReached    = fmt.Errorf("%w: the goal was reached", Cancelled)
	errOutOfReach = fmt.Errorf("%w: the goal is out of reach", Cancelled)
	errOver       = fmt.Errorf("%w: poll waits for nothing any more", Cancelled)
)

// A score counts the targets of a group and their ends.
type score struct {
	Summary
	live    int // targets that have not ended
	failed  int // targets, and lists, that have ended without success
	lists   int // that are not over
	growing int // the lists that may find more targets
	missing int // how many more targets the lists should have
}

// decide ends the run if all targets have ended, or once the goal of the group was reached or is out of reach.
func (l *loop) decide() {
	switch have, need := l.Endings[Succeeded], l.needed(); {
	case l.live+l.lists == 0:
		l.cancel(errOver)
	case need > 0 && have >= need && (l.Percent <= 0 || l.missing == 0):
		l.cancel(errReached)
	case l.Attempts == 0 && l.growing == 0 && need > l.Targets+l.missing: // known before the first attempt
		l.cancel(errOutOfReach)
	case !l.FailFast:
	case need <= 0 && l.failed > 0, need > 0 && l.growing == 0 && have+l.live < need:
		l.cancel(errOutOfReach)
	}
}

// needed returns how many targets have to succeed, 0 for all.
func (l *loop) needed() int {
	if l.Percent <= 0 {
		return l.AtLeast
	}
	return int(math.Ceil(l.Percent*float64(l.Targets+l.missing)/100 - 1e-9)) // 4.4% of 750 are 33, and not 33.000000000000007
}

// goal returns the last event.
func (l *loop) goal() Event {
	now, s := time.Now(), l.Summary
	s.Elapsed, s.Ending = now.Sub(l.Start), Succeeded
	needsAll := l.needed() <= 0
	if s.Need = l.needed(); needsAll {
		s.Need = s.Targets + l.missing
	}
	isOpen := l.Percent > 0 && l.missing > 0 // a share of an unknown number
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
