package poll

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/status"
)

// An EventKind says what happened in an [Event].
type EventKind uint8

// The kinds of event, in the order in which they happen.
const (
	EventWait    EventKind = iota + 1 // a wait begins
	EventStart                        // an attempt begins
	EventAttempt                      // an attempt has ended and was judged
	EventEnd                          // the run has ended: its last event, exactly once
	EventPlace                        // of a [Group]: a place was closed, or its rate was cut
	EventGoal                         // of a [Group]: it has ended, always its last event, exactly once
)

// String returns wait, start, attempt, end, place or goal.
func (k EventKind) String() string {
	names := [...]string{
		EventWait: "wait", EventStart: "start", EventAttempt: "attempt", EventEnd: "end",
		EventPlace: "place", EventGoal: "goal",
	}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("EventKind(%d)", uint8(k))
	}
	return names[k]
}

// HeldBy says what holds back an attempt that is due.
type HeldBy uint8

// What holds back an attempt.
const (
	HeldByNothing HeldBy = iota
	HeldByGate           // its place is closed: it has asked for a wait
	HeldByRate           // its place gets no more attempts a second
	HeldByAnother        // another process makes the attempt, and shares the answer
)

// String returns nothing, gate, rate or another.
func (h HeldBy) String() string {
	names := [...]string{HeldByNothing: "nothing", HeldByGate: "gate", HeldByRate: "rate", HeldByAnother: "another"}
	if int(h) >= len(names) {
		return fmt.Sprintf("HeldBy(%d)", uint8(h))
	}
	return names[h]
}

// A RunID tells the runs of one process apart. Runs that share a consumer may
// have the same name.
type RunID uint64

// newRunID returns a random ID. Among a million runs, two have the same one with a chance
// of 3 in 100 million.
func newRunID() RunID { return RunID(1 + rand.Uint64N(math.MaxUint64)) }

// An Event is one thing that happened in a run. It must not be changed.
type Event struct {
	Kind   EventKind
	Run    RunID
	Target string // names the operation in words
	// N numbers the targets of a [Group], from 1 in their order; 0 for a single run.
	N int
	// Attempt numbers the attempt that is waited for, begins or has ended, from
	// 1. In an EventEnd it is the number of attempts made.
	Attempt     int
	MaxAttempts int           // 0 = no limit
	At          time.Time     // when it happened
	Elapsed     time.Duration // since the start of the run
	Deadline    time.Time     // when the run times out; zero = never
	// Began is when the operation began, as far as is known: at the start of the run, or
	// when a [Starter]'s attempt to start it was answered. Zero until then.
	Began time.Time

	// Wait is the length of the wait, NextAt its end (EventWait).
	Wait   time.Duration
	NextAt time.Time
	// Hint is the wait that the server asked for, nil if it asked for none (EventWait).
	Hint *status.Hint
	// HeldBy says what has held back an attempt that was due, so that there is a further
	// EventWait for it; HeldByNothing for any other.
	HeldBy HeldBy
	// LastLook is true when the wait was shortened so that one more attempt
	// fits before the deadline (EventWait, EventStart).
	LastLook bool

	// Observation is what the attempt saw, Verdict what that means, and Took how
	// long the attempt ran (EventAttempt).
	Observation *status.Observation
	Verdict     status.Verdict
	Took        time.Duration
	// Streak counts the consecutive attempts with this verdict, Threshold how many end
	// the run, 0 if the verdict never does (EventAttempt).
	Streak, Threshold int
	// Held is how long it has been this verdict, and HoldFor how long that has to be to end
	// the run; 0 if it need not last (EventAttempt).
	Held, HoldFor time.Duration

	of *run // whose State it is

	// Outcome is the result of the run (EventEnd).
	Outcome *Outcome

	// Place is where attempts are held back (EventPlace).
	Place *Place
	// Summary is the result of the group (EventGoal).
	Summary *Summary
}

// Age returns how long the operation had been running, as far as is known.
func (e Event) Age() time.Duration {
	if e.Began.IsZero() {
		return 0
	}
	return e.At.Sub(e.Began)
}

func (r *run) event(kind EventKind) Event {
	now := time.Now()
	return Event{
		Kind:        kind,
		Run:         r.ID,
		Target:      r.Target,
		N:           r.n,
		Attempt:     r.attempts,
		MaxAttempts: r.MaxAttempts,
		At:          now,
		Elapsed:     now.Sub(r.Start),
		Deadline:    r.deadline,
		Began:       r.began,
		of:          r,
	}
}

func (r *run) waitEvent(next plan) Event {
	e := r.event(EventWait)
	e.Attempt++
	e.Wait, e.NextAt = next.wait, e.At.Add(next.wait)
	e.Hint, e.LastLook = next.hint, next.lastLook
	return e
}

func (r *run) startEvent(next plan) Event {
	e := r.event(EventStart)
	e.Attempt++
	e.LastLook = next.lastLook
	return e
}

func (r *run) attemptEvent() Event {
	e := r.event(EventAttempt)
	e.Observation, e.Verdict, e.Took = r.last.observation, r.last.verdict, r.last.took
	e.Streak, e.Threshold = r.streak, r.threshold()
	e.Held, e.HoldFor = r.held(), r.holdFor()
	return e
}

func (r *run) endEvent(o Outcome) Event {
	e := r.event(EventEnd)
	e.Attempt, e.Elapsed, e.Outcome = o.Attempts, o.Elapsed, &o
	return e
}
