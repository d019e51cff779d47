package poll

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// An EventKind says what happened in an [Event], in a word.
type EventKind string

// The kinds of event.
const (
	EventWait    EventKind = "wait"    // a wait begins
	EventStart   EventKind = "start"   // an attempt begins
	EventMessage EventKind = "message" // a message of the attempt was judged, and does not end it
	EventAttempt EventKind = "attempt" // an attempt has ended and was judged
	EventEnd     EventKind = "end"     // the target has ended: its last event, exactly once
	EventPlace   EventKind = "place"   // a place was closed: it has asked for a wait
	EventGoal    EventKind = "goal"    // of a [Group]: it has ended, always its last event, exactly once
)

// HeldBy says in a word what holds back an attempt that is due; "" is nothing.
type HeldBy string

// What holds back an attempt.
const (
	HeldByGate HeldBy = "gate" // its place is closed: it has asked for a wait
	HeldByRate HeldBy = "rate" // its place gets no more requests a second
)

// An Event is one thing that happened. It is a value: nothing in it changes later, and it
// must not be changed.
type Event struct {
	Kind   EventKind
	Target string // names the operation in words
	// N numbers the targets of a [Group], from 1 in their order; 0 for a single wait, and for
	// a list itself.
	N           int
	MaxAttempts int           // 0 = no limit
	At          time.Time     // when it happened
	Elapsed     time.Duration // since the start of the wait
	Deadline    time.Time     // when the wait times out; zero = never
	// State is where the wait stands now. State.Attempts counts the attempts that were begun:
	// an EventWait comes before the one after these, and State.Due is when.
	State State

	// Wait is the time until the next attempt (EventWait).
	Wait time.Duration
	// HeldBy says what has held back an attempt that was due, so that there is a further
	// EventWait for it; "" for any other.
	HeldBy HeldBy

	// Observation is what the attempt saw, or the message, and Verdict what that means
	// (EventAttempt, EventMessage). An ERROR short of its threshold is NOT_READY; State has the ERROR.
	// Took is how long the attempt ran (EventAttempt).
	Observation *status.Observation
	Verdict     status.Verdict
	Took        time.Duration
	// Threshold is how many consecutive attempts, or messages, with the State's Status end the wait, of which
	// State.Streak were made, and how long it has to hold since State.Since; zero if that Status
	// never does (EventAttempt, EventMessage).
	Threshold Threshold

	// Outcome is the result of the wait (EventEnd).
	Outcome *Outcome
	// Place is where attempts are held back (EventPlace).
	Place *Place
	// Summary is the result of the group (EventGoal).
	Summary *Summary

	ofStart bool // a start is about to be sent, or was answered: the loop waits for the consumer
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

// An Ending says how a wait ended, in words. It is an error, so that errors.Is(err,
// poll.TimedOut) finds it in the error of a wait.
type Ending string

// The endings.
const (
	// Succeeded: the operation is done.
	Succeeded Ending = "succeeded"
	// Failed: as much of ERROR as ErrorThreshold asks for, a final one, a probe that cannot be
	// used, or a caller's context that was canceled with a [Permanent] cause.
	Failed Ending = "failed"
	// CannotRun: the program was not found or cannot be executed.
	CannotRun Ending = "cannot be run"
	// HintTooLong: the server asked for a wait until after the deadline.
	HintTooLong Ending = "throttled past the deadline"
	// AttemptsExhausted: MaxAttempts were made.
	AttemptsExhausted Ending = "attempts exhausted"
	// TimedOut: the deadline was reached, Timeout's or that of the caller's context. It
	// also matches context.DeadlineExceeded.
	TimedOut Ending = "timed out"
	// Interrupted: the caller's context was canceled.
	Interrupted Ending = "interrupted"
	// Cancelled: the goal of the [Group] was reached, or was out of reach, without this
	// target.
	Cancelled Ending = "cancelled"
)

// Error returns the words.
func (e Ending) Error() string { return string(e) }

// Is reports whether target is [context.DeadlineExceeded] and e is TimedOut.
func (e Ending) Is(target error) bool { return e == TimedOut && target == context.DeadlineExceeded }

// An Outcome is the result of a wait.
type Outcome struct {
	Target  string // names the operation in words
	Ending  Ending
	Reason  string        // in words, why the wait ended as it did
	Elapsed time.Duration // since the start of the wait
	// Status is the status of the verdict that decided, or of the last one; None if there
	// was none. It is SUCCESS only if the wait Succeeded: a SUCCESS or ERROR short of its
	// threshold is NOT_READY.
	Status status.Status
	// Cause is the cause of the caller's context if it ended the wait, or the error of a
	// probe that cannot be used; otherwise nil.
	Cause error
	// State is what a later run goes on from. State.Attempts counts the attempts made: one that
	// was stopped counts, one that could not be started does not.
	State State
	// Verdict and Observation are from the last attempt that was not stopped from
	// outside, or from the last one if all were. Observation is nil if there was no
	// attempt. After SUCCESS its Body is the result.
	Verdict     status.Verdict
	Observation *status.Observation
	// Resumed is true if the wait had ended before: it goes on from a [State] that has Ended,
	// so that there was no attempt, and there is no Observation.
	Resumed bool
	// Unfinished is true if the wait, or its list, has started an operation, or may have, and no response has
	// reported its end: the same wait from the beginning could start the operation a second time. The State is
	// not Ended then.
	Unfinished bool
	// Value is what [Poller.Finalize] has made of the Observation; poll itself sets none.
	Value any
	// Notes tell what kept the wait undecided: a verdict that was not seen often enough,
	// and rules that were never tested or always unknown, with what to write instead.
	Notes []string
}

// Err returns nil for a wait that Succeeded, and otherwise an [*Error].
func (o Outcome) Err() error {
	if o.Ending == Succeeded {
		return nil
	}
	return &Error{Outcome: o}
}

// how returns the ending and the reason. A reason that starts with the ending is enough.
func (o Outcome) how() string {
	if strings.HasPrefix(o.Reason, string(o.Ending)) {
		return o.Reason
	}
	return fmt.Sprintf("%s: %s", o.Ending, o.Reason)
}

// An Error is the error of a wait that did not end in SUCCESS. It unwraps to its
// [Ending] and to the causes, if there are any.
type Error struct{ Outcome Outcome }

// Error says what was waited for, how it ended and why.
func (e *Error) Error() string {
	o := e.Outcome
	if o.Target == "" {
		return "wait: " + o.how()
	}
	return fmt.Sprintf("wait for %s: %s", o.Target, o.how())
}

// Unwrap returns the ending and the causes.
func (e *Error) Unwrap() []error {
	errs := []error{e.Outcome.Ending}
	if e.Outcome.Cause != nil {
		errs = append(errs, e.Outcome.Cause)
	}
	if o := e.Outcome.Observation; o != nil && o.Failure != nil && o.Failure.Err != nil {
		errs = append(errs, o.Failure.Err)
	}
	return errs
}
