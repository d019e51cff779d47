package poll

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// An Ending says how a wait ended, in words. It is an error, so that errors.Is(err,
// poll.TimedOut) finds it in the error of a wait.
type Ending string

// The endings.
const (
	// Succeeded: the operation is done.
	Succeeded Ending = "succeeded"
	// Failed: ErrorThreshold verdicts of ERROR in a row, a final one, a probe that cannot be
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
	Run     RunID
	Target  string // names the operation in words
	Ending  Ending
	Reason  string        // in words, why the wait ended as it did
	Elapsed time.Duration // since the start of the wait
	// Age is how long the operation has been running, as far as is known: Elapsed or, where
	// the wait started it, the time since that was answered.
	Age time.Duration
	// Status is the status of the verdict that decided, or of the last one; None if there
	// was none. It is SUCCESS only if the wait Succeeded: a SUCCESS short of the threshold
	// is NOT_READY.
	Status status.Status
	// Cause is the cause of the caller's context if it ended the wait, or the error of a
	// probe that cannot be used; otherwise nil.
	Cause error
	// Attempts counts the attempts made. One that was stopped counts, one that could not be
	// started does not. Taken and Alone are as in a [State].
	Attempts, Taken, Alone int
	// Verdict and Observation are from the last attempt that was not stopped from
	// outside, or from the last one if all were. Observation is nil if there was no
	// attempt. After SUCCESS its Body is the result.
	Verdict     status.Verdict
	Observation *status.Observation
	// Resumed is true if the wait had ended before: it goes on from a [State] that has Ended,
	// so that there was no attempt, and there is no Observation.
	Resumed bool
	// Notes tell what kept the wait undecided: a verdict that was not seen often enough,
	// and rules that were never asked or never decidable, with what to write instead.
	Notes []string
}

// Err returns nil for a wait that Succeeded, and otherwise an [*Error].
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

// outcome returns the outcome of a wait that ends so.
func (w *wait) outcome(ending Ending) Outcome {
	j := w.complete
	if j.observation == nil {
		j = w.last
	}
	o := Outcome{
		Run:         w.run,
		Target:      w.p.Target,
		Ending:      ending,
		Status:      w.Status,
		Attempts:    w.Attempts,
		Taken:       w.Taken,
		Alone:       w.Alone,
		Verdict:     j.verdict,
		Observation: j.observation,
	}
	if w.Ended() { // an earlier run
		o.Reason, o.Elapsed, o.Resumed = w.Reason, w.Elapsed, true
		return o
	}
	if o.Elapsed = time.Since(w.Start); !w.Began.IsZero() {
		o.Age = time.Since(w.Began)
	}
	switch o.Cause = w.hopeless; {
	case o.Cause != nil, ending == Failed && !(w.decided() && w.Status == status.Error):
		o.Status, o.Cause = status.Error, cmp.Or(o.Cause, w.refused, w.loop.broken())
	case ending == Interrupted, ending == TimedOut:
		o.Cause = context.Cause(w.loop.caller)
	}
	if ending != Succeeded && o.Status == status.Success {
		o.Status = status.NotReady // it was not seen often enough
	}
	o.Reason = w.reason(o)
	o.Verdict.Hints = nil
	if ending == Succeeded && w.neverFound(o) {
		o.Notes = append(o.Notes, "it was not there at the first look, either: is that the right name?")
	}
	if ending == Succeeded && w.p.Settle != nil {
		o = w.p.Settle(o)
	}
	if ending != Succeeded && o.Observation != nil {
		w.explain(&o)
	}
	return o
}

// neverFound reports whether what was waited for to be gone was never seen.
func (w *wait) neverFound(o Outcome) bool {
	isHere := func(rule status.Rule) bool { return rule.Here }
	return !w.found && w.p.Past == nil && o.Observation.Failure != nil && slices.ContainsFunc(w.p.Rules.Own, isHere)
}

// explain notes what kept the wait undecided.
func (w *wait) explain(o *Outcome) {
	last, needed, hold := w.last.verdict.Status, w.threshold(), w.holdFor()
	switch {
	case o.Ending == Failed, o.Ending == CannotRun:
	case w.Streak < needed:
		o.Notes = append(o.Notes, fmt.Sprintf("the last verdict was %s, %d of %d in a row", last, w.Streak, needed))
	case w.held() < hold:
		o.Notes = append(o.Notes, fmt.Sprintf("the last verdict was %s, for %s of %s", last, words.Short(w.held()), words.Duration(hold)))
	}
	o.Notes = append(o.Notes, w.tally.Notes(o.Observation.Kind)...)
	if w.done == nil && (o.Ending != Failed || o.Verdict.Rule == "") {
		o.Verdict.Hints = w.tally.Hints()
	}
}

// reason says why the wait ended as it did.
func (w *wait) reason(o Outcome) string {
	if w.hopeless != nil {
		return w.hopeless.Error()
	}
	last := o.Verdict.Reason
	if last != "" {
		last = "; last: " + last
	}
	switch o.Ending {
	case HintTooLong:
		asked := o.Verdict.Reason
		if w.closed != "" {
			asked = w.closed
		} else if hint := o.Observation.Hint; !o.Verdict.TellsHint {
			asked = fmt.Sprintf("%s; %s asks for a wait of %s", asked, hint.Source, words.Duration(hint.Wait))
		}
		return fmt.Sprintf("%s, and %s are left before the deadline", asked, words.Short(time.Until(w.deadline)))
	case AttemptsExhausted:
		return fmt.Sprintf("attempts made: %d of %d%s", w.Attempts, w.p.MaxAttempts, last)
	case TimedOut:
		limit := w.limit
		if limit != w.p.Timeout { // it is the context's, set a moment earlier
			limit = max(0, limit).Round(time.Millisecond)
		}
		return fmt.Sprintf("timed out after %s%s", words.Duration(limit), last)
	case Interrupted, Failed:
		if o.Cause != nil {
			return fmt.Sprintf("%v%s", o.Cause, last)
		}
	case Cancelled:
		why := strings.TrimPrefix(context.Cause(w.loop.ctx).Error(), string(Cancelled)+": ")
		return why + last
	}
	return o.Verdict.Reason
}
