package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pollcli/poll/status"
)

// A run has the parts that all waits of a loop share: the settings of the group, the context, and the consumer of the
// events.
type run struct {
	Group
	caller, ctx context.Context         // ctx is done with caller, at the deadline, or once the goal is decided
	cancel      context.CancelCauseFunc // of ctx
	deadline    time.Time               // zero = none
	stepping    bool                    // a Step: the loop makes one attempt if an attempt is due
	stepEnd     time.Time               // the latest end of the attempt of a Step, zero without a limit
	invalid     error                   // why the group cannot run, nil for a valid group

	// held has a value while the state of the loop is changed, and while an event is emitted. It is a channel and not a
	// mutex because the consumer may take its time over an event, which package testing/synctest sees of a channel only.
	held    chan struct{}
	yield   func(Event) bool
	hasLeft bool // the consumer has stopped the iteration
}

// isOver reports whether the run has ended: at the deadline, by the caller or the consumer, or because its goal
// is decided.
func (r *run) isOver() bool { return r.ctx.Err() != nil }

// lock waits until no other goroutine changes the state of the loop. It returns the function that unlocks the loop.
func (r *run) lock() (unlock func()) {
	r.held <- struct{}{}
	return func() { <-r.held }
}

// emit hands an event to the consumer until the consumer stops the iteration, which ends the run.
func (r *run) emit(e Event) {
	if !r.hasLeft && !r.yield(e) {
		r.hasLeft = true
		r.cancel(errOver)
	}
}

// emitMessage emits the event of a message from the goroutine of the attempt. It reports whether the consumer wants
// further events.
func (r *run) emitMessage(e Event) (goesOn bool) {
	defer r.lock()()
	r.emit(e)
	return !r.hasLeft
}

// stopped returns the ending of targets that the caller or the goal of the group has stopped, or "".
func (r *run) stopped() Ending {
	err := r.caller.Err()
	switch {
	case r.broken() != nil:
		return Failed
	case err != nil && (r.stepping || !errors.Is(err, context.DeadlineExceeded)):
		return Interrupted
	case errors.Is(context.Cause(r.ctx), Cancelled):
		return Cancelled
	}
	return ""
}

// broken returns the [Permanent] cause with which the caller canceled the context; nil without such a cause.
func (r *run) broken() error {
	if cause := context.Cause(r.caller); isPermanent(cause) {
		return cause
	}
	return nil
}

// The causes with which the loop cancels the targets of a group that have not ended.
var (
	errReached    = fmt.Errorf("%w: the goal was reached", Cancelled)
	errOutOfReach = fmt.Errorf("%w: the goal is out of reach", Cancelled)
	errOver       = fmt.Errorf("%w: poll waits for nothing any more", Cancelled)
)

// event returns an event of w with a kind, and with the fields that the kind needs.
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
		if e.Verdict.Status == status.Error && !w.decided() { // a later attempt may succeed
			e.Verdict.Status = status.NotReady
		}
	}
	return e
}

// all returns the waits that have not ended: w and, for a list, its elements.
func (w *wait) all() []*wait {
	waits := []*wait{w}
	if w.list != nil {
		waits = append(waits, w.list.waiting...)
	}
	return waits
}
