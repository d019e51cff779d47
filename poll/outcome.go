package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// An Ending says how a run ended. It is an error, so that errors.Is(err, poll.TimedOut)
// finds it in a run's error.
type Ending uint8

// The endings.
const (
	// Succeeded: the operation is done.
	Succeeded Ending = iota
	// Failed: ErrorThreshold verdicts of ERROR in a row, a final one, or a failed
	// [Checker], or a caller's context that was canceled with a [Permanent] cause.
	Failed
	// CannotRun: the program was not found or cannot be executed.
	CannotRun
	// HintTooLong: the server asked for a wait until after the deadline.
	HintTooLong
	// AttemptsExhausted: MaxAttempts were made.
	AttemptsExhausted
	// TimedOut: the deadline was reached, Timeout's or that of the caller's context. It
	// also matches context.DeadlineExceeded.
	TimedOut
	// Interrupted: the caller's context was canceled.
	Interrupted
	// Cancelled: the goal of the [Group] was reached, or was out of reach, without this
	// target.
	Cancelled
)

// String names the ending in words.
func (e Ending) String() string {
	names := [...]string{
		Succeeded:         "succeeded",
		Failed:            "failed",
		CannotRun:         "cannot be run",
		HintTooLong:       "throttled past the deadline",
		AttemptsExhausted: "attempts exhausted",
		TimedOut:          "timed out",
		Interrupted:       "interrupted",
		Cancelled:         "cancelled",
	}
	if int(e) >= len(names) {
		return fmt.Sprintf("Ending(%d)", uint8(e))
	}
	return names[e]
}

// Error returns String, so that an Ending can be a target of [errors.Is].
func (e Ending) Error() string { return e.String() }

// Is reports whether target is [context.DeadlineExceeded] and e is TimedOut.
func (e Ending) Is(target error) bool { return e == TimedOut && target == context.DeadlineExceeded }

// An Outcome is the result of a run.
type Outcome struct {
	Run     RunID
	Target  string // names the operation in words
	Ending  Ending
	Reason  string        // in words, why the run ended as it did
	Elapsed time.Duration // since the start of the run
	// Age is how long the operation has been running, as far as is known: Elapsed or,
	// where a [Starter] started it, the time since that was answered.
	Age time.Duration
	// Status is the status of the verdict that decided, or of the last one; None if there
	// was none. It is SUCCESS only if the run Succeeded: a SUCCESS short of the threshold
	// is NOT_READY.
	Status status.Status
	// Cause is the cause of the caller's context if it ended the run, or the error of a
	// [Checker]; otherwise nil.
	Cause error
	// Attempts counts the attempts made. One that was stopped counts, one that
	// could not be started does not.
	Attempts int
	// Taken counts the attempts of Attempts that were another process's, which has shared the
	// answer; Alone counts those that should have been shared, and were not.
	Taken, Alone int
	// Verdict and Observation are from the last attempt that was not stopped from
	// outside, or from the last one if all were. Observation is nil if there was no
	// attempt. After SUCCESS its Body is the result.
	Verdict     status.Verdict
	Observation *status.Observation
	// Resumed is true if the run had ended before: it goes on from a [State] that has Ended,
	// which made no attempt and has no Observation.
	Resumed bool
	// Notes tell what kept the run undecided: a verdict that was not seen often enough,
	// and rules that were never asked or never decidable, with what to write instead.
	Notes []string
}

// Err returns nil for a run that Succeeded, and otherwise an [*Error].
func (o Outcome) Err() error {
	if o.Ending == Succeeded {
		return nil
	}
	return &Error{Outcome: o}
}

// An Error is the error of a wait that did not end in SUCCESS. It unwraps to its
// [Ending] and to the causes, if there are any.
type Error struct{ Outcome Outcome }

// Error says what was waited for, how it ended and why.
func (e *Error) Error() string {
	o := e.Outcome
	if o.Target == "" {
		return fmt.Sprintf("wait: %s: %s", o.Ending, o.Reason)
	}
	return fmt.Sprintf("wait for %s: %s: %s", o.Target, o.Ending, o.Reason)
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

// outcome returns the outcome of a run that ended so.
func (r *run) outcome(ending Ending) Outcome {
	o := Outcome{
		Run:         r.ID,
		Target:      r.Target,
		Ending:      ending,
		Status:      r.last.verdict.Status,
		Elapsed:     time.Since(r.Start),
		Attempts:    r.attempts,
		Taken:       r.taken,
		Alone:       r.alone,
		Verdict:     r.complete.verdict,
		Observation: r.complete.observation,
	}
	if !r.began.IsZero() {
		o.Age = time.Since(r.began)
	}
	if o.Observation == nil {
		o.Verdict, o.Observation = r.last.verdict, r.last.observation
	}
	if ending == Interrupted || ending == TimedOut {
		o.Cause = context.Cause(r.caller)
	}
	if ending == Failed && !(r.decided() && o.Status == status.Error) {
		o.Status, o.Cause = status.Error, cmp.Or(r.refused, r.broken())
	}
	if ending != Succeeded && o.Status == status.Success {
		o.Status = status.NotReady // it was not seen often enough
	}
	o.Reason = r.reason(ending, o)
	o.Verdict.Hints = nil
	isHere := func(rule status.Rule) bool { return rule.Here }
	if ending == Succeeded && !r.seen && r.Past == nil && o.Observation.Failure != nil && slices.ContainsFunc(r.Rules.Own, isHere) {
		o.Notes = append(o.Notes, "it was not there at the first look, either: is that the right name?")
	}
	if ending == Succeeded && r.Settle != nil {
		o = r.Settle(o)
	}
	if ending == Succeeded || o.Observation == nil {
		return o
	}
	if needed := r.threshold(); ending != Failed && ending != CannotRun && r.streak < needed {
		note := fmt.Sprintf("the last verdict was %s, %d of %d in a row", r.last.verdict.Status, r.streak, needed)
		o.Notes = append(o.Notes, note)
	} else if hold := r.holdFor(); ending != Failed && ending != CannotRun && r.held() < hold {
		o.Notes = append(o.Notes, fmt.Sprintf("the last verdict was %s, for %s of %s", r.last.verdict.Status, words.Short(r.held()), words.Duration(hold)))
	}
	o.Notes = append(o.Notes, r.tally.Notes(o.Observation.Kind)...)
	if r.done == nil && (ending != Failed || o.Verdict.Rule == "") {
		o.Verdict.Hints = r.tally.Hints()
	}
	return o
}

// cannotBegin is the outcome of a run whose probe failed its check.
func (r *run) cannotBegin(err error) Outcome {
	o := r.outcome(Failed)
	o.Status, o.Reason, o.Cause = status.Error, err.Error(), err
	if f, ok := errors.AsType[*status.Failure](err); ok {
		o.Ending = CannotRun
		o.Observation = &status.Observation{Kind: status.KindCommand, Failure: f}
	}
	return o
}

// reason says why the run ended as it did.
func (r *run) reason(ending Ending, o Outcome) string {
	last := o.Verdict.Reason
	if last != "" {
		last = "; last: " + last
	}
	switch ending {
	case HintTooLong:
		asked := o.Verdict.Reason
		if r.closed != "" {
			asked = r.closed
		} else if hint := o.Observation.Hint; !o.Verdict.TellsHint {
			asked = fmt.Sprintf("%s; %s asks for a wait of %s", asked, hint.Source, words.Duration(hint.Wait))
		}
		return fmt.Sprintf("%s, and %s are left before the deadline", asked, words.Short(time.Until(r.deadline)))
	case AttemptsExhausted:
		return fmt.Sprintf("attempts made: %d of %d%s", r.attempts, r.MaxAttempts, last)
	case TimedOut:
		limit := r.limit
		if limit != r.Timeout { // it is ctx's, set a moment earlier
			limit = max(0, limit).Round(time.Millisecond)
		}
		return fmt.Sprintf("timed out after %s%s", words.Duration(limit), last)
	case Interrupted, Failed:
		if o.Cause != nil {
			return fmt.Sprintf("%v%s", o.Cause, last)
		}
	case Cancelled:
		why := strings.TrimPrefix(context.Cause(r.ctx).Error(), Cancelled.String()+": ")
		return why + last
	}
	return o.Verdict.Reason
}
