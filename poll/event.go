package poll

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// An EventKind is the kind of an [Event], as a single word.
type EventKind string

// The event kinds.
const (
	EventWait    EventKind = "wait"    // the wait for the next attempt has started, or has become longer
	EventStart   EventKind = "start"   // an attempt starts
	EventMessage EventKind = "message" // a message was evaluated, and the attempt continues
	EventAttempt EventKind = "attempt" // an attempt has ended, and its response was evaluated
	EventEnd     EventKind = "end"     // the target has ended; each target has one such event, its last
	EventOrigin  EventKind = "place"   // an origin was closed, because it requested a pause
	EventGoal    EventKind = "goal"    // a [Group] has ended; each group has one such event, its last
)

// An Event is one step in a wait or in a group. It does not change after it is emitted, and its receiver must
// not modify it.
type Event struct {
	Kind   EventKind
	Target string // human-readable name of the operation
	// N is the number of the target in a [Group], counting from 1. It is 0 for a single wait, and for a list
	// (whose elements are the targets).
	N           int
	MaxAttempts int           // 0 means no limit
	At          time.Time     // time of the event
	Elapsed     time.Duration // time since the wait started
	Deadline    time.Time     // latest end of the wait; zero means no limit
	// State is the state of the wait after the event. State.Attempts includes an attempt that has started but
	// not ended. In an EventWait, State.Due is the time of the next attempt.
	State State

	// Wait is the time until the next attempt (EventWait).
	Wait time.Duration
	// HeldBy is the reason why an attempt that is due has to wait longer. A further EventWait then reports the
	// longer wait. HeldBy is "gate" if the origin is closed because it requested a pause. It is "rate" if the
	// origin's request rate does not allow another request yet. Otherwise HeldBy is "". Programs that display
	// the wait need HeldBy.
	HeldBy string

	// Observation is the result of the attempt or the message, and Verdict is the verdict on it (EventAttempt,
	// EventMessage). For an ERROR that has not reached its threshold, Verdict.Status is NOT_READY, while
	// State.Status is ERROR. Took is the duration of the attempt (EventAttempt).
	Observation *status.Observation
	Verdict     status.Verdict
	Took        time.Duration
	// Threshold is how often in a row, and for how long, State.Status must be seen before it ends the wait
	// (EventAttempt, EventMessage). State.Streak is how often it has been seen so far, and State.Since is the
	// time when it was first seen. Threshold is zero if that status cannot end a wait. Programs that display
	// the wait need Threshold.
	Threshold Threshold

	// Outcome is the result of the wait (EventEnd).
	Outcome *Outcome
	// Origin is the origin that was closed (EventOrigin).
	Origin *ClosedOrigin
	// Summary is the result of the group (EventGoal).
	Summary *Summary

	ofStart bool // the event precedes or follows a start request, so the loop waits until the consumer has received the event
}

// A ClosedOrigin describes an origin that requested a pause.
type ClosedOrigin struct {
	Name        string
	ClosedUntil time.Time // no attempt starts before this time
	Reason      string    // human-readable reason why the origin is closed
}

// Age returns how long the operation had been running at the time of the event. It returns 0 if the start of
// the operation is not known.
func (e Event) Age() time.Duration {
	if e.State.Began.IsZero() {
		return 0
	}
	return e.At.Sub(e.State.Began)
}

// An Ending describes how a wait ended. It implements error: errors.Is(err, poll.TimedOut) reports whether the
// wait that returned err timed out.
type Ending string

// The endings of a wait.
const (
	// Succeeded means that the operation is done.
	Succeeded Ending = "succeeded"
	// Failed means that ERROR reached its ErrorThreshold, that no further attempt can succeed, that the probe
	// cannot be used, or that the caller's context was canceled with a [Permanent] cause.
	Failed Ending = "failed"
	// CannotRun means that the program was not found, or cannot be executed.
	CannotRun Ending = "cannot be run"
	// ThrottledTooLong means that the server requested a wait that ends after the deadline.
	ThrottledTooLong Ending = "throttled past the deadline"
	// AttemptsExhausted means that MaxAttempts attempts were made.
	AttemptsExhausted Ending = "attempts exhausted"
	// TimedOut means that the deadline was reached: the end of Timeout, or the deadline of the caller's
	// context. TimedOut also matches [context.DeadlineExceeded].
	TimedOut Ending = "timed out"
	// Interrupted means that the caller's context was canceled.
	Interrupted Ending = "interrupted"
	// Cancelled means that the [Group] reached its goal, or could no longer reach its goal, before this target
	// ended.
	Cancelled Ending = "cancelled"
)

// Error returns the ending as a string.
func (e Ending) Error() string { return string(e) }

// Is reports whether e is TimedOut and target is [context.DeadlineExceeded].
func (e Ending) Is(target error) bool { return e == TimedOut && target == context.DeadlineExceeded }

// An Outcome is the result of a wait.
type Outcome struct {
	Target  string // human-readable name of the operation
	Ending  Ending
	Reason  string        // human-readable reason why the wait ended
	Elapsed time.Duration // time since the wait started
	// Status is the status of the verdict that ended the wait: SUCCESS if the wait Succeeded, and ERROR if the
	// ending is Failed or CannotRun. Otherwise Status belongs to the last verdict, except that NOT_READY
	// replaces a SUCCESS or ERROR that did not reach its threshold. Status is None if there was no verdict.
	Status status.Status
	// Cause is the cause of the caller's context if that context ended the wait, or the error that makes the
	// probe unusable. Otherwise Cause is nil.
	Cause error
	// State holds what a later run needs to continue the wait. State.Attempts includes attempts that were
	// interrupted, but not attempts that could not be started.
	State State
	// Verdict and Observation belong to the last attempt that was not interrupted or, if there is none, to the
	// last attempt. Observation is nil if there was no attempt. After SUCCESS, Observation.Body is the result.
	Verdict     status.Verdict
	Observation *status.Observation
	// Resumed is true if the wait had already ended in an earlier run, according to [Poller.Past]. This run
	// then made no attempt, and Observation is nil.
	Resumed bool
	// Unfinished is true if the wait, or the list to which the target belongs, has or may have started an
	// operation, and no response has reported that the operation ended. A new wait might then start the
	// operation a second time. State.Ended returns false in this case, so a later run can continue.
	Unfinished bool
	// Value is free for use by [Poller.Finalize]. Package poll does not set it.
	Value any
	// Hints are advice about the whole wait for the user: the hints of the Verdict, hints about the rules, and
	// notes on why no verdict ended the wait. For example, a verdict did not reach its threshold, a rule was
	// never evaluated, the value of a rule was always unknown, or a different rule would have matched.
	Hints []status.Hint
}

// Err returns nil if the wait Succeeded, and an [*Error] otherwise.
func (o Outcome) Err() error {
	if o.Ending == Succeeded {
		return nil
	}
	return &Error{Outcome: o}
}

// how returns the ending followed by the reason. It returns only the reason if the reason already starts with
// the ending.
func (o Outcome) how() string {
	if strings.HasPrefix(o.Reason, string(o.Ending)) {
		return o.Reason
	}
	return fmt.Sprintf("%s: %s", o.Ending, o.Reason)
}

// An Error is the error of a wait that did not succeed. It wraps the [Ending] and the errors that caused it.
type Error struct{ Outcome Outcome }

// Error returns a message with the ending and the reason, and with the target's name if it has a name.
func (e *Error) Error() string {
	o := e.Outcome
	if o.Target == "" {
		return "wait: " + o.how()
	}
	return fmt.Sprintf("wait for %s: %s", o.Target, o.how())
}

// Unwrap returns the ending, the outcome's Cause and the error of the last failure. It omits a Cause or failure
// error that is nil.
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
