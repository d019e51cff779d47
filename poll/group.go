package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// A Group waits for several targets at once. Each target is a [Poller] with its own probe, rules, schedule and
// limits. The zero value waits until all targets have succeeded.
//
// A Poller with [Elements] is a list: each element of its responses is a target. The list itself has an
// EventWait, an EventStart and an EventAttempt for each attempt; the N of these events is 0. An element has an
// EventAttempt only if its verdict or its JSON has changed, and exactly one EventEnd. The list has an EventEnd
// only if it may contain further targets that no response has shown. Such an end is counted in Summary.Endings,
// but the list is not counted as a target.
type Group struct {
	// AtLeast is the number of targets that must succeed; 0 means all. Once AtLeast targets have succeeded, all
	// other targets end with [Cancelled]. If the group has fewer targets than AtLeast, all targets end with
	// Cancelled before the first attempt.
	AtLeast int
	// Percent, if not 0, replaces AtLeast: at least this percentage of all targets, rounded up, and at least
	// one target must succeed. It must be between 0 and 100. The percentage refers to the expected number of
	// targets, so each list of the group needs Known or Expect.
	Percent float64
	// FailFast ends the group as soon as its goal (AtLeast, Percent, or all targets) can no longer be reached.
	// By default the group still waits for the remaining targets.
	FailFast bool

	// Parallel is the maximum number of concurrent attempts; 0 means 50. An attempt that takes longer than 5 s
	// no longer counts toward Parallel, but still counts toward ParallelOrigin. The total number of attempts is
	// at most four times Parallel. An attempt that receives a stream does not count toward any of these limits.
	Parallel int
	// ParallelOrigin returns the maximum number of concurrent attempts at an origin: the scheme, host and port
	// of a URL, the program of a command, or the [Plan.Origin] of another probe. If it returns 0, or if
	// ParallelOrigin is nil, only Parallel limits the attempts.
	ParallelOrigin func(origin string) int
	// Limiter spaces out the requests to each origin, for targets that have no Limiter of their own. Nil means
	// no limit.
	Limiter Limiter

	// Start, Timeout and Rand have the same meaning as in a [Poller], for the whole group. A target's own
	// Timeout applies in addition to the group's, and a target's own Start replaces the group's. Each target
	// without its own Rand gets a random source seeded from Rand, in the order of the targets. With the same
	// seed, each target therefore has the same waits.
	Start   time.Time
	Timeout time.Duration
	Rand    *rand.Rand
}

// validate returns an error if a field of g is negative or out of range.
func (g *Group) validate() error {
	switch {
	case g.AtLeast < 0:
		return errors.New("a negative AtLeast has no meaning")
	case !(g.Percent >= 0 && g.Percent <= 100): // written so that NaN is rejected, too
		return fmt.Errorf("a Percent of %v is not between 0 and 100", g.Percent)
	case g.Parallel < 0:
		return errors.New("a negative Parallel has no meaning")
	}
	return nil
}

// A Summary is the result of a [Group].
type Summary struct {
	// Ending is Succeeded if the group reached its goal. Otherwise it is the first of these endings that a
	// target or a list has: Interrupted, CannotRun, Failed, ThrottledTooLong, AttemptsExhausted, TimedOut. If none
	// has such an ending, as in a group without targets, Ending is Failed.
	Ending Ending
	// Targets is the number of targets, and Need is the number of targets that had to succeed. Endings holds
	// the number of targets and lists for each ending.
	Targets, Need int
	Endings       map[Ending]int
	// Attempts is the number of attempts made. An attempt for a list counts once, not once per element.
	Attempts int
	Elapsed  time.Duration // time since the group started
	// Hints are notes on why a list that seemed complete may have more elements, for example ".count is 500".
	// See [Elements.Whole].
	Hints []status.Hint
	// Cause is the cause of the caller's context if that context ended the group; otherwise nil.
	Cause error

	failures []error // the errors of the first targets or lists that did not succeed, at most maxFailures
}

// Err returns nil if the group reached its goal. Otherwise it returns an error that wraps Ending, Cause and the
// errors of up to three targets or lists that did not succeed.
func (s Summary) Err() error {
	if s.Ending == Succeeded {
		return nil
	}
	return &groupError{s}
}

// A groupError is the error of a group that did not reach its goal.
type groupError struct{ Summary }

// Error returns how many targets succeeded and how many were needed. It adds the ending and the Cause or, if
// Cause is nil, how the first unsuccessful targets ended.
func (e *groupError) Error() string {
	need := fmt.Sprint(e.Need)
	if e.Need == e.Targets {
		need = "all"
	}
	text := fmt.Sprintf("%d of %s succeeded, %s needed", e.Endings[Succeeded], words.Count(e.Targets, "target"), need)
	if e.Cause != nil {
		return fmt.Sprintf("%s; %s: %v", text, e.Ending, e.Cause)
	}
	for _, failure := range e.failures {
		how := failure.Error()
		if f, ok := errors.AsType[*Error](failure); ok {
			how = cmp.Or(f.Outcome.Target, "a target") + " " + f.Outcome.how()
		}
		text += "; " + how
	}
	if len(e.failures) == 0 {
		text += "; " + string(e.Ending)
	}
	return text
}

// Unwrap returns Ending, Cause (which may be nil) and the failures.
func (e *groupError) Unwrap() []error {
	return append([]error{e.Ending, e.Cause}, e.failures...)
}

// Run waits for all targets, and returns their outcomes in the order of the targets. The outcomes of list
// elements follow the order in which responses first showed the elements. The error is the result of
// [Summary.Err].
func (g *Group) Run(ctx context.Context, targets iter.Seq[Poller]) (outcomes []Outcome, err error) {
	err = errors.New("the group ended before its goal was decided") // returned only if a probe or another function of the caller calls runtime.Goexit, so that there is no EventGoal
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

// Events waits for the targets and yields their events; Event.N is the number of the target. It yields an
// EventOrigin when an origin is closed. After the last target's EventEnd it yields one EventGoal. If the caller
// breaks out of the loop, the group ends and the remaining events are dropped.
//
// Events first reads all targets and checks that their probes can be used. Probes, schedules and the functions
// of a Poller run on goroutines of the group, so a panic in one of them ends the program.
//
// Events buffers up to 100 events, so a slow caller does not delay attempts until the buffer is full. Start
// requests are an exception: such a request is sent only after the caller has received its EventStart. The
// group then continues only after the caller has received the EventAttempt.
func (g *Group) Events(ctx context.Context, targets iter.Seq[Poller]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		events, seen, gone := make(chan *Event, maxEvents), make(chan struct{}), make(chan struct{})
		l := newLoop(ctx, *g, func(e Event) bool {
			select {
			case events <- &e:
			case <-gone:
				return false
			}
			if !e.ofStart { // the event can wait in the channel, which buffers maxEvents events
				return true
			}
			select {
			case <-seen:
				return true
			case <-gone:
				return false
			}
		})
		if l.invalid = g.validate(); targets == nil { // a group without targets fails
			targets = slices.Values([]Poller(nil))
		}
		release := l.start(targets)
		go func() {
			defer close(events)
			l.drive()
			l.emit(l.goal())
		}()
		defer func() { // deferred, so that it also runs if the caller's loop body panics
			close(gone)
			release()
			for range events { // drain the channel until the running attempts have ended
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

// maxEvents is the number of events that a group buffers for a slow caller.
const maxEvents = 100
