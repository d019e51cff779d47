package poll

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// An EventKind is the kind of an [Event], as one word.
type EventKind string

// The kinds of event.
const (
	EventWait    EventKind = "wait"    // a wait starts
	EventStart   EventKind = "start"   // an attempt starts
	EventMessage EventKind = "message" // a message of the attempt was evaluated and does not end the attempt
	EventAttempt EventKind = "attempt" // an attempt has ended and was evaluated
	EventEnd     EventKind = "end"     // the target has ended: exactly one, the last event of the target
	EventOrigin  EventKind = "place"   // an origin was closed, since it has requested a pause
	EventGoal    EventKind = "goal"    // a [Group] has ended: exactly one, the last event of the group
)

// HeldBy is the reason why an attempt that is due has to wait, as one word; "" if the attempt does not have to.
type HeldBy string

// The values of [HeldBy].
const (
	HeldByGate HeldBy = "gate" // its origin is closed, since it has requested a pause
	HeldByRate HeldBy = "rate" // the request rate of its origin is used up
)

// An Event is a step of a wait or of a group. Its values do not change later, and a consumer must not change
// them.
type Event struct {
	Kind   EventKind
	Target string // the name of the operation, for people
	// N is the number of the target in a [Group], from 1 in the order of the targets; 0 for a single wait, and for
	// a list whose elements are the targets.
	N           int
	MaxAttempts int           // 0 = no limit
	At          time.Time     // the time of the event
	Elapsed     time.Duration // since the start of the wait
	Deadline    time.Time     // the end of the wait at the latest; zero = no limit
	// State is the state of the wait after the event. State.Attempts counts the attempts that were started. An
	// EventWait comes before the next attempt, which is due at State.Due.
	State State

	// Wait is the time until the next attempt (EventWait).
	Wait time.Duration
	// HeldBy is the reason for a further EventWait: the attempt was due, and has to wait longer. It is "" for any
	// other event.
	HeldBy HeldBy

	// Observation is the observation of the attempt or of the message, and Verdict its verdict (EventAttempt,
	// EventMessage). Verdict has NOT_READY for an ERROR that has not reached its threshold; State keeps the ERROR. Took is the
	// duration of the attempt (EventAttempt).
	Observation *status.Observation
	Verdict     status.Verdict
	Took        time.Duration
	// Threshold is the threshold for the State's Status: the number of consecutive attempts or messages, counted by
	// State.Streak, and the time for which the Status has to hold from State.Since. It is zero for a Status that
	// never ends the wait (EventAttempt, EventMessage).
	Threshold Threshold

	// Outcome is the result of the wait (EventEnd).
	Outcome *Outcome
	// Origin is the origin that was closed (EventOrigin).
	Origin *ClosedOrigin
	// Summary is the result of the group (EventGoal).
	Summary *Summary

	ofStart bool // a start request is about to be sent, or has a response: the loop waits for the consumer
}

// A ClosedOrigin is an origin that has requested a pause.
type ClosedOrigin struct {
	Name        string
	ClosedUntil time.Time // no attempt before then
	Reason      string    // why the origin is closed, for people
}

// Age returns how long the operation had been running at the time of the event; 0 if its start is not known.
func (e Event) Age() time.Duration {
	if e.State.Began.IsZero() {
		return 0
	}
	return e.At.Sub(e.State.Began)
}

// An Ending is how a wait ended, for people. It is an error, so that errors.Is(err, poll.TimedOut) finds it in
// the error of a wait.
type Ending string

// The endings.
const (
	// Succeeded: the operation is done.
	Succeeded Ending = "succeeded"
	// Failed: ERROR reached its ErrorThreshold, or no further attempt can succeed, or the probe cannot be used, or
	// the caller's context was canceled with a [Permanent] cause.
	Failed Ending = "failed"
	// CannotRun: the program was not found or cannot be executed.
	CannotRun Ending = "cannot be run"
	// HintTooLong: the server requested a wait that ends after the deadline.
	HintTooLong Ending = "throttled past the deadline"
	// AttemptsExhausted: MaxAttempts were made.
	AttemptsExhausted Ending = "attempts exhausted"
	// TimedOut: the deadline was reached, by Timeout or by the caller's context. TimedOut also matches
	// context.DeadlineExceeded.
	TimedOut Ending = "timed out"
	// Interrupted: the caller's context was canceled.
	Interrupted Ending = "interrupted"
	// Cancelled: the [Group] reached its goal, or could no longer reach it, before this target ended.
	Cancelled Ending = "cancelled"
)

// Error returns e as a string.
func (e Ending) Error() string { return string(e) }

// Is reports whether target is [context.DeadlineExceeded] and e is TimedOut.
func (e Ending) Is(target error) bool { return e == TimedOut && target == context.DeadlineExceeded }

// An Outcome is the result of a wait.
type Outcome struct {
	Target  string // the name of the operation, for people
	Ending  Ending
	Reason  string        // why the wait ended, for people
	Elapsed time.Duration // since the start of the wait
	// Status is the status of the verdict that ended the wait, or else of the last verdict; None without a verdict.
	// It is SUCCESS only if the wait Succeeded: a SUCCESS or ERROR that has not reached its threshold is NOT_READY.
	Status status.Status
	// Cause is the cause of the caller's context if the context ended the wait, or the error of a probe that cannot
	// be used; otherwise nil.
	Cause error
	// State has the facts from which a later run continues. State.Attempts counts attempts that were stopped, and
	// does not count attempts that could not be started.
	State State
	// Verdict and Observation belong to the last attempt that ended by itself or, without such an attempt, to the
	// last attempt. Observation is nil before the first attempt. After SUCCESS its Body is the result.
	Verdict     status.Verdict
	Observation *status.Observation
	// Resumed is true if an earlier run ended the wait: [Poller.Past] has Ended. The run then makes no attempt, and
	// Observation is nil.
	Resumed bool
	// Unfinished is true if the wait, or its list, has started an operation or may have started an operation, and
	// no response has reported the end of the operation. A new wait could then start the operation a second time.
	// The State has not Ended in this case.
	Unfinished bool
	// Value may be set by [Poller.Finalize]. This package leaves it nil.
	Value any
	// Notes explain why the wait was not decided: a verdict that has not reached its threshold, rules that were never evaluated or
	// always unknown, and rules that would work instead.
	Notes []string
}

// Err returns nil for a wait that Succeeded, and an [*Error] otherwise.
func (o Outcome) Err() error {
	if o.Ending == Succeeded {
		return nil
	}
	return &Error{Outcome: o}
}

// how returns the ending and the reason, or only the reason if it starts with the ending.
func (o Outcome) how() string {
	if strings.HasPrefix(o.Reason, string(o.Ending)) {
		return o.Reason
	}
	return fmt.Sprintf("%s: %s", o.Ending, o.Reason)
}

// An Error is the error of a wait that did not succeed. It wraps its [Ending] and the causes.
type Error struct{ Outcome Outcome }

// Error returns the target, if it has a name, and how and why the wait ended.
func (e *Error) Error() string {
	o := e.Outcome
	if o.Target == "" {
		return "wait: " + o.how()
	}
	return fmt.Sprintf("wait for %s: %s", o.Target, o.how())
}

// Unwrap returns the ending, and the errors that caused the ending.
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
