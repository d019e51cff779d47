package poll

import (
	"time"

	"github.com/pollcli/poll/status"
)

// An EventKind says what happened in an [Event], in a word.
type EventKind string

// The kinds of event.
const (
	EventWait    EventKind = "wait"    // a wait begins
	EventStart   EventKind = "start"   // an attempt begins
	EventAttempt EventKind = "attempt" // an attempt has ended and was judged
	EventEnd     EventKind = "end"     // the target has ended: its last event, exactly once
	EventPlace   EventKind = "place"   // of a [Group]: a place was closed
	EventGoal    EventKind = "goal"    // of a [Group]: it has ended, always its last event, exactly once
)

// HeldBy says in a word what holds back an attempt that is due; "" is nothing.
type HeldBy string

// What holds back an attempt.
const (
	HeldByGate    HeldBy = "gate"    // its place is closed: it has asked for a wait
	HeldByRate    HeldBy = "rate"    // its place gets no more requests a second
	HeldByAnother HeldBy = "another" // another process makes the attempt, and shares the answer
)

// A RunID tells the waits of one process apart: two may have the same name. It is random, and
// not 0.
type RunID uint64

// An Event is one thing that happened. It is a value: nothing in it changes later, and it
// must not be changed.
type Event struct {
	Kind   EventKind
	Run    RunID
	Target string // names the operation in words
	// N numbers the targets of a [Group], from 1 in their order; 0 for a single wait, and for
	// a list itself.
	N int
	// Attempt numbers the attempt that is waited for, begins or has ended, from
	// 1. In an EventEnd it is the number of attempts made.
	Attempt     int
	MaxAttempts int           // 0 = no limit
	At          time.Time     // when it happened
	Elapsed     time.Duration // since the start of the wait
	Deadline    time.Time     // when the wait times out; zero = never
	// State is where the wait stands now. State.Due is when the next attempt comes.
	State State

	// Wait is the time until the next attempt (EventWait).
	Wait time.Duration
	// Hint is the wait that the server asked for, nil if it asked for none (EventWait).
	Hint *status.Hint
	// HeldBy says what has held back an attempt that was due, so that there is a further
	// EventWait for it; "" for any other.
	HeldBy HeldBy
	// LastLook is true when the wait was shortened so that one more attempt
	// fits before the deadline (EventWait, EventStart).
	LastLook bool

	// Observation is what the attempt saw, Verdict what that means, and Took how
	// long the attempt ran (EventAttempt).
	Observation *status.Observation
	Verdict     status.Verdict
	Took        time.Duration
	// Threshold is how many consecutive attempts with this verdict end the wait, of which
	// State.Streak were made; 0 if the verdict never does (EventAttempt).
	Threshold int
	// Held is how long it has been this verdict, and HoldFor how long that has to be to end
	// the wait; 0 if it need not last (EventAttempt).
	Held, HoldFor time.Duration

	// Outcome is the result of the wait (EventEnd).
	Outcome *Outcome
	// Place is where attempts are held back (EventPlace).
	Place *Place
	// Summary is the result of the group (EventGoal).
	Summary *Summary
}

// A Place is what a group knows of a place that has asked for a wait.
type Place struct {
	Name        string
	ClosedUntil time.Time // no attempt before then
	Reason      string    // in words, what asked for it
}

// Age returns how long the operation had been running, as far as is known.
func (e Event) Age() time.Duration {
	if e.State.Began.IsZero() {
		return 0
	}
	return e.At.Sub(e.State.Began)
}

// event returns an event of a wait.
func (w *wait) event(kind EventKind, now time.Time) Event {
	e := Event{
		Kind:        kind,
		Run:         w.run,
		Target:      w.p.Target,
		N:           w.n,
		Attempt:     w.Attempts,
		MaxAttempts: w.p.MaxAttempts,
		At:          now,
		Elapsed:     now.Sub(w.Start),
		Deadline:    w.deadline,
		State:       w.kept(),
	}
	switch kind {
	case EventWait:
		e.Attempt++
		e.Wait, e.LastLook = max(0, w.Due.Sub(now)), w.LastLook
		if left := w.hintLeft(now); left > 0 {
			e.Hint = &status.Hint{Wait: left, Source: w.Hint.Source}
		}
	case EventStart:
		e.LastLook = w.LastLook
	case EventAttempt:
		e.Observation, e.Verdict, e.Took = w.last.observation, w.last.verdict, w.last.took
		e.Threshold, e.Held, e.HoldFor = w.threshold(), w.held(), w.holdFor()
	}
	return e
}
