package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Group waits for several targets at once. Each target is a [Poller]: its probe, rules,
// schedule and limits. The zero value waits until all of them have succeeded.
//
// A Poller with [Elements] is a list: each element of its answers is a target. The events of
// the list itself, a wait, a start and an attempt for each look, have no N. An element has
// an EventAttempt only when its verdict is a new one or its JSON has changed, and one
// EventEnd. The list has an EventEnd only if it is not known to be all that was to be waited
// for: that counts in the Summary's Endings, and not as a target.
type Group struct {
	// AtLeast is how many targets must succeed. 0 means all. Once that many have, the
	// others are [Cancelled]. With fewer targets than AtLeast all are Cancelled before the first attempt.
	AtLeast int
	// Percent, from 0 to 100, takes the place of AtLeast unless it is 0: so many percent of
	// all targets, rounded up, must succeed. The number of targets is known once every list
	// has the elements that it Expects: a list without Known and Expect is an error.
	Percent float64
	// FailFast ends the group as soon as AtLeast can no longer be reached. Otherwise the
	// group waits for the other targets even so.
	FailFast bool

	// Parallel is how many attempts are made at once; 0 means 50. An attempt that has taken 5 s does not
	// count any more, except for ParallelPlace, until there are four times Parallel in all.
	Parallel int
	// ParallelPlace returns how many of them go to one place: the scheme, host and port of a
	// URL, the program of a command, or what the Place method of a probe returns. 0 means no
	// limit but Parallel; nil returns 0 for every place.
	ParallelPlace func(place string) int
	// Limiter spaces the requests to each place of the targets that have none of their own; nil means
	// no limit.
	Limiter Limiter

	// Start, Timeout and Rand are as in a [Poller], for all targets together. A target's own
	// Timeout applies in addition; its own Start and Rand take the place of these.
	Start   time.Time
	Timeout time.Duration
	Rand    *rand.Rand
}

// A Summary is the result of a [Group].
type Summary struct {
	// Ending is Succeeded if the goal was reached. Otherwise it is the first of these that
	// a target, or a list, ended with: Interrupted, CannotRun, Failed, HintTooLong, AttemptsExhausted,
	// TimedOut. A group without targets has Failed.
	Ending Ending
	// Targets counts the targets, Need how many of them had to succeed, and Endings how
	// many ended in which way.
	Targets, Need int
	Endings       map[Ending]int
	// Failures are the errors of the first targets, or lists, that did not succeed: three at most.
	Failures []error
	// Attempts counts the attempts made. One for all elements of a list counts once.
	Attempts int
	Elapsed  time.Duration // since the start of the group
	// Notes are reasons why a list that is complete may have more elements, such as ".count is 500": see [Elements.Whole].
	Notes []string
	// Cause is the cause of the caller's context if it ended the group.
	Cause error
}

// Err returns nil if the goal was reached, and otherwise an error that wraps the Ending, and
// the Cause or the Failures.
func (s Summary) Err() error {
	if s.Ending == Succeeded {
		return nil
	}
	return &groupError{s}
}

// A groupError is the error of a group whose goal was not reached.
type groupError struct{ Summary }

// Error returns the counts, and the Cause or how the first targets ended that did not succeed.
func (e *groupError) Error() string {
	need := fmt.Sprint(e.Need)
	if e.Need == e.Targets {
		need = "all"
	}
	text := fmt.Sprintf("%d of %s succeeded, %s needed", e.Endings[Succeeded], words.Count(e.Targets, "target"), need)
	if e.Cause != nil {
		return fmt.Sprintf("%s; %s: %v", text, e.Ending, e.Cause)
	}
	for _, failure := range e.Failures {
		how := failure.Error()
		if f, ok := errors.AsType[*Error](failure); ok {
			how = cmp.Or(f.Outcome.Target, "a target") + " " + f.Outcome.how()
		}
		text += "; " + how
	}
	if len(e.Failures) == 0 {
		text += "; " + string(e.Ending)
	}
	return text
}

// Unwrap returns the Ending, the Cause, which may be nil, and the Failures.
func (e *groupError) Unwrap() []error {
	return append([]error{e.Ending, e.Cause}, e.Failures...)
}

// Run waits for the targets and returns how each of them ended, in their order, with the elements
// of lists in the order of their appearance. The error is that of [Summary.Err].
func (g *Group) Run(ctx context.Context, targets iter.Seq[Poller]) (outcomes []Outcome, err error) {
	err = errors.New("the group ended before its goal was decided") // by code of the caller that ends its goroutine
	for event := range g.Events(ctx, targets) {
		switch {
		case event.Kind == EventGoal:
			err = event.Summary.Err()
		case event.Kind == EventEnd && event.N > 0:
			outcomes = append(outcomes, make([]Outcome, max(0, event.N-len(outcomes)))...)
			outcomes[event.N-1] = *event.Outcome
		}
	}
	return outcomes, err
}

// Events waits for the targets and yields what happens: the events of each target, with its
// N, an EventPlace when a place was closed, and one EventGoal at the end, after the EventEnd
// of every target. A consumer that is slow delays no attempt until it is 100 events behind; only a
// start waits until its EventStart, and the EventAttempt of its answer, have been consumed. Breaking out
// of the iteration ends the group, and drops the events that are left. All targets are read, and all
// their probes checked, before the first attempt.
func (g *Group) Events(ctx context.Context, targets iter.Seq[Poller]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		events, seen, gone := make(chan *Event, maxEvents), make(chan struct{}), make(chan struct{})
		l := newLoop(ctx, *g, func(e Event) bool {
			select {
			case events <- &e:
			case <-gone:
				return false
			}
			if !e.ofStart { // of others up to maxEvents wait
				return true
			}
			select {
			case <-seen:
				return true
			case <-gone:
				return false
			}
		})
		release := l.start(targets)
		go func() {
			defer close(events)
			l.drive()
			l.emit(l.goal())
		}()
		defer func() { // also if the consumer panics
			close(gone)
			release()
			for range events { // until the attempts that are under way have ended
			}
		}()
		for e := range events {
			if !yield(*e) {
				return
			}
			if e.ofStart {
				seen <- struct{}{}
			}
		}
	}
}

// maxEvents is how many events of a group wait for their consumer at most.
const maxEvents = 100
