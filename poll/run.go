package poll

import (
	"context"
	"fmt"
	"time"

	"github.com/pollcli/poll/status"
)

// A run holds what all waits of a loop share: the settings of the group, the context, and the consumer of the
// events.
type run struct {
	Group
	caller, ctx context.Context         // caller is the caller's context; ctx is derived from it, and also done at the deadline or once the goal is decided
	cancel      context.CancelCauseFunc // cancels ctx
	deadline    time.Time               // zero means no deadline
	stepping    bool                    // the run is a Poller.Step, which makes at most one attempt, if one is due
	stepEnd     time.Time               // latest end of the attempt that Poller.Step makes; zero means no limit
	invalid     error                   // why the group's settings are invalid, or nil

	// held is a lock: it contains a value while the state of the loop is changed or an event is emitted. It is
	// a channel and not a mutex, because the consumer may block while it handles an event, and package
	// testing/synctest recognizes only a goroutine blocked on a channel.
	held    chan struct{}
	yield   func(Event) bool
	hasLeft bool // the consumer has ended the iteration
}

// isOver reports whether the run has ended: the deadline has passed, the caller or the consumer has stopped it,
// or its goal is decided.
func (r *run) isOver() bool { return r.ctx.Err() != nil }

// emit passes e to the consumer. If the consumer ends the iteration, emit ends the run, and drops all further
// events.
func (r *run) emit(e Event) {
	if !r.hasLeft && !r.yield(e) {
		r.hasLeft = true
		r.cancel(errOver)
	}
}

// emitMessage emits e, the event of a message, from the goroutine of an attempt. It reports whether the
// consumer still receives events.
func (r *run) emitMessage(e Event) (goesOn bool) {
	defer r.lock()()
	r.emit(e)
	return !r.hasLeft
}

// lock locks the state of the loop, and waits if another goroutine has locked it. It returns a function that
// unlocks the state.
func (r *run) lock() (unlock func()) {
	r.held <- struct{}{}
	return func() { <-r.held }
}

// event returns an event of the given kind about w, with the fields that belong to the kind.
func (w *wait) event(kind EventKind, now time.Time) Event {
	e := Event{
		Kind:        kind,
		Target:      w.p.Target,
		N:           w.n,
		MaxAttempts: w.p.MaxAttempts,
		At:          now,
		Elapsed:     now.Sub(w.Start),
		Deadline:    w.deadline,
		State:       w.State,
	}
	switch kind {
	case EventWait:
		e.Wait = max(0, w.Due.Sub(now))
	case EventAttempt, EventMessage:
		e.Observation, e.Verdict, e.Took = w.last.observation, w.last.verdict, w.last.took
		e.Threshold = w.threshold()
		if e.Verdict.Status == status.Error && !w.decided() { // the ERROR has not reached its threshold, so a later attempt may succeed
			e.Verdict.Status = status.NotReady
		}
	}
	return e
}

// all returns w. If w makes the attempts for a list, the waits of the list's remaining elements follow.
func (w *wait) all() []*wait {
	waits := []*wait{w}
	if w.list != nil {
		waits = append(waits, w.list.waiting...)
	}
	return waits
}

// endClosed marks all targets of w, so that they end after the current attempt, because the origin is closed
// until after the deadline. why is the human-readable reason.
func (w *wait) endClosed(why string) {
	for _, w := range w.all() {
		w.closedPastDeadline = why
	}
}

// The causes with which the loop cancels the remaining targets of a group.
var (
	errReached    = fmt.Errorf("%w: the goal was reached", Cancelled)
	errOutOfReach = fmt.Errorf("%w: the goal is out of reach", Cancelled)
	errOver       = fmt.Errorf("%w: the wait is over", Cancelled)
)

// sleepUntil returns at the given time, or when ctx is done if that happens earlier. If the time is not in the
// future, it returns at once.
func sleepUntil(ctx context.Context, at time.Time) {
	wait := time.Until(at)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// isDeadline reports whether the given time is the wait's deadline or later. It returns false for a wait
// without a deadline.
func (w *wait) isDeadline(at time.Time) bool { return !w.deadline.IsZero() && !at.Before(w.deadline) }

// earliest returns the earlier of the times a and b. A zero time is ignored. If both are zero, the result is
// zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
