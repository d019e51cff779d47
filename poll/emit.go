package poll

import (
	"context"
	"time"
)

// An emitter hands events to the consumer, one at a time.
type emitter struct {
	// held has a value while the state of the loop is changed, and while an event is emitted. It is a channel and not a
	// mutex because the consumer may take its time over an event, which package testing/synctest sees of a channel only.
	held    chan struct{}
	yield   func(Event) bool
	hasLeft bool                    // the consumer has stopped the iteration
	cancel  context.CancelCauseFunc // of the run's context
}

// lock waits until no other goroutine changes the state of the loop. It returns the function that unlocks the loop.
func (m *emitter) lock() (unlock func()) {
	m.held <- struct{}{}
	return func() { <-m.held }
}

// emit hands an event to the consumer until the consumer stops the iteration, which ends the run.
func (m *emitter) emit(e Event) {
	if !m.hasLeft && !m.yield(e) {
		m.hasLeft = true
		m.cancel(errOver)
	}
}

// emitWait emits the wait until the next attempt. by names the reason why a due attempt has to wait, "" if
// the attempt is not due.
func (m *emitter) emitWait(w *wait, by HeldBy, now time.Time) {
	e := w.event(EventWait, now)
	e.HeldBy = by
	m.emit(e)
}
