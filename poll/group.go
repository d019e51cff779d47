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

// A Group waits for several targets at once. Each target is a [Poller] with its own probe, rules, schedule and
// limits. The zero value waits until all targets have succeeded.
//
// A Poller with [Elements] is a list: each element of its responses is a target. The list itself has an
// EventWait, an EventStart and an EventAttempt for each attempt; these events have no N. An element has an
// EventAttempt only if its verdict or its JSON has changed, and exactly one EventEnd. The list has an EventEnd
// only if it may hold targets that are not known. Such an end counts in the Summary's Endings, but not as a
// target.
type Group struct {
	// AtLeast is how many targets must succeed. 0 means all. Once AtLeast targets have succeeded, all other targets
	// are [Cancelled]. With fewer targets than AtLeast, all targets are Cancelled before the first attempt.
	AtLeast int
	// Percent, unless it is 0, replaces AtLeast: Percent percent of all targets, rounded up, must succeed. It is
	// between 0 and 100. The number of targets is known once every list has the elements that it Expects, so a list
	// without Known and Expect is an error.
	Percent float64
	// FailFast ends the group as soon as AtLeast can no longer be reached. Without FailFast the group still waits
	// for the remaining targets.
	FailFast bool

	// Parallel is how many attempts are made at once; 0 means 50. An attempt that has taken 5 s no longer counts
	// for Parallel, but still for ParallelOrigin. The total is at most four times Parallel.
	Parallel int
	// ParallelOrigin returns how many attempts are made at once at an origin: the scheme, host and port of a URL,
	// the program of a command, or the [Plan.Origin] of another probe. 0 means no limit except Parallel. A nil
	// function limits no origin.
	ParallelOrigin func(origin string) int
	// Limiter spaces the requests to each origin, for targets without a Limiter of their own. Nil means no limit.
	Limiter Limiter

	// Start, Timeout and Rand are as in a [Poller], for all targets together. A target's own Timeout applies in
	// addition. A target's own Start replaces the Start of the group. Each target without a Rand of its own gets a source
	// that is seeded from Rand, in the order of the targets. The same Rand thus leads to the same waits of each target.
	Start   time.Time
	Timeout time.Duration
	Rand    *rand.Rand
}

// validate returns an error if a number has no meaning.
func (g *Group) validate() error {
	switch {
	case g.AtLeast < 0:
		return errors.New("a negative AtLeast has no meaning")
	case !(g.Percent >= 0 && g.Percent <= 100): // nor NaN
		return fmt.Errorf("a Percent of %v is not between 0 and 100", g.Percent)
	case g.Parallel < 0:
		return errors.New("a negative Parallel has no meaning")
	}
	return nil
}

// A Summary is the result of a [Group].
type Summary struct {
	// Ending is Succeeded if the goal was reached. Otherwise it is the first ending in this order that a target or
	// a list has: Interrupted, CannotRun, Failed, HintTooLong, AttemptsExhausted, TimedOut. A group without targets
	// has Failed.
	Ending Ending
	// Targets is the number of targets, and Need how many targets had to succeed. Endings counts the targets, and
	// lists, with each ending.
	Targets, Need int
	Endings       map[Ending]int
	// Failures are the errors of the first targets, or lists, that did not succeed: at most three.
	Failures []error
	// Attempts counts the attempts made. An attempt for a list counts once, not once for each element.
	Attempts int
	Elapsed  time.Duration // since the start of the group
	// Notes are reasons why a complete list may have more elements, such as ".count is 500": see [Elements.Whole].
	Notes []string
	// Cause is the cause of the caller's context if the context ended the group; otherwise nil.
	Cause error
}

// Err returns nil if the goal was reached, and otherwise an error that wraps the Ending, the Cause and the
// Failures.
func (s Summary) Err() error {
	if s.Ending == Succeeded {
		return nil
	}
	return &groupError{s}
}

// A groupError is the error of a group whose goal was not reached.
type groupError struct{ Summary }

// Error returns the counts, followed by the Cause or the endings of the first targets that did not succeed.
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

// Run waits for the targets, and returns the outcome of each target in their order. The elements of lists are in
// the order of their first appearance. The error is the error of [Summary.Err].
func (g *Group) Run(ctx context.Context, targets iter.Seq[Poller]) (outcomes []Outcome, err error) {
	err = errors.New("the group ended before its goal was decided") // if code of the caller has ended its goroutine
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

// Events waits for the targets and yields the events of each target, with its N. It yields an EventOrigin when an
// origin was closed and, after the EventEnd of every target, one EventGoal. A slow consumer delays no attempt
// until it is 100 events behind, with one exception: a start request is sent only after the consumer has
// received its EventStart, and the group continues only after the consumer has received the EventAttempt of the
// start. Breaking out of the iteration ends the group, and drops the remaining events. Before the first attempt
// all targets are read, and all their probes checked. Probes, schedules and the functions of a Poller run on goroutines of
// the group, so a panic in one of them ends the process.
func (g *Group) Events(ctx context.Context, targets iter.Seq[Poller]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		events, seen, gone := make(chan *Event, maxEvents), make(chan struct{}), make(chan struct{})
		l := newLoop(ctx, *g, func(e Event) bool {
			select {
			case events <- &e:
			case <-gone:
				return false
			}
			if !e.ofStart { // any other event waits in the channel, with up to maxEvents events
				return true
			}
			select {
			case <-seen:
				return true
			case <-gone:
				return false
			}
		})
		l.invalid = g.validate()
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

// maxEvents is the number of events that a group keeps for a slow consumer.
const maxEvents = 100
