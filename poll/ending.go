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

// unrunnable returns how the wait ends if there was no attempt, since the program cannot be run
// or the start must not be sent; otherwise "".
func (w *wait) unrunnable() Ending {
	f := w.last.observation.Failure
	switch {
	case w.unsent:
		return Failed
	case f != nil && (f.Kind == status.FailureNotFound || f.Kind == status.FailureNotExecutable):
		return CannotRun
	}
	return ""
}

// stopped returns how the wait ends if its place is closed until its deadline, or the loop ends; ""
// if neither is so.
func (w *wait) stopped() Ending {
	if w.closedPastDeadline != "" {
		return HintTooLong
	}
	return w.run.stopped()
}

// stopped returns how targets end that the caller or the goal has stopped, "" if nobody has.
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

// broken returns the cause with which the caller said that the operation has failed; nil if
// it did not.
func (r *run) broken() error {
	if cause := context.Cause(r.caller); isPermanent(cause) {
		return cause
	}
	return nil
}

// ending returns how the wait ends after an attempt, "" if it continues.
func (w *wait) ending(now time.Time) Ending {
	if w.element != nil { // limits are those of the list
		return w.endingByVerdict()
	}
	return w.endingOf(w.stopped(), now)
}

// endingOfPast returns how a wait ends that goes on from a Past after which there is nothing to do,
// "" if it goes on.
func (w *wait) endingOfPast() Ending {
	switch {
	case w.Ending != "":
		return w.Ending
	case w.Starting:
		w.hopeless = errMayHaveStarted
		return Failed
	case w.p.MaxAttempts > 0 && w.Attempts >= w.p.MaxAttempts:
		return AttemptsExhausted
	}
	return ""
}

// outcome returns the outcome of a wait that ends so.
func (w *wait) outcome(ending Ending) Outcome {
	if ending == Succeeded && w.final != nil {
		return *w.final
	}
	j := w.complete
	if j.observation == nil {
		j = w.last
	}
	o := Outcome{
		Target:      w.p.Target,
		Ending:      ending,
		Status:      w.Status,
		Verdict:     j.verdict,
		Observation: j.observation,
	}
	if w.Ending != "" { // in an earlier run
		o.Reason, o.Elapsed, o.Resumed = w.Reason, w.Elapsed, true
		return o
	}
	o.Elapsed = time.Since(w.Start)
	switch o.Cause = w.hopeless; {
	case o.Cause != nil, ending == Failed && !(w.decided() && w.Status == status.Error):
		o.Status, o.Cause = status.Error, cmp.Or(o.Cause, w.run.broken())
	case ending == Interrupted, ending == TimedOut:
		o.Cause = context.Cause(w.run.caller)
	}
	if !slices.Contains([]Ending{Succeeded, Failed, CannotRun}, ending) && o.Status.Ends() {
		o.Status = status.NotReady // it was not seen often or long enough
	}
	o.Reason = w.reason(o)
	o.Verdict.Hints = nil
	if w.ignored != "" {
		o.Notes = append(o.Notes, w.ignored)
	}
	if ending == Succeeded && w.neverFound(o) {
		o.Notes = append(o.Notes, "it was not there at the first look, either: is that the right name?")
	}
	if ending != Succeeded && o.Observation != nil {
		w.explain(&o)
	}
	return o
}

// neverFound reports whether what was waited for to be gone was never seen.
func (w *wait) neverFound(o Outcome) bool {
	isHere := func(rule status.Rule) bool { return rule.Here }
	return !w.wasPending && w.p.Past == nil && o.Observation.Failure != nil && slices.ContainsFunc(w.p.Rules.Own, isHere)
}

// explain notes what kept the wait undecided.
func (w *wait) explain(o *Outcome) {
	last, needed := w.last.verdict.Status, w.threshold()
	switch {
	case o.Ending == Failed, o.Ending == CannotRun:
	case w.Streak < needed.Times:
		o.Notes = append(o.Notes, fmt.Sprintf("the last verdict was %s, %d of %d in a row", last, w.Streak, needed.Times))
	case w.held() < needed.For:
		o.Notes = append(o.Notes, fmt.Sprintf("the last verdict was %s, for %s of %s", last, words.Short(w.held()), words.Duration(needed.For)))
	}
	o.Notes = append(o.Notes, w.coach.Notes(o.Observation.Kind)...)
	if o.Ending != Failed || o.Verdict.Rule == "" {
		o.Verdict.Hints = w.coach.Hints()
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
		if w.closedPastDeadline != "" {
			asked = w.closedPastDeadline
		} else if hint := cmp.Or(w.Hint, o.Observation.Hint); hint != nil && !o.Verdict.TellsHint { // of an element it is the list's
			asked = fmt.Sprintf("%s; %s asks for a wait of %s", asked, hint.Source, words.Duration(hint.Wait))
		}
		return fmt.Sprintf("%s, and %s are left before the deadline", asked, words.Short(time.Until(w.deadline)))
	case AttemptsExhausted:
		return fmt.Sprintf("attempts made: %d of %d%s", w.Attempts, w.p.MaxAttempts, last)
	case TimedOut:
		limit := w.budget
		if limit != w.p.Timeout { // it is the context's, set a moment earlier
			limit = max(0, limit).Round(time.Millisecond)
		}
		return fmt.Sprintf("timed out after %s%s", words.Duration(limit), last)
	case Interrupted, Failed:
		if o.Cause != nil {
			return fmt.Sprintf("%v%s", o.Cause, last)
		}
	case Cancelled:
		why := strings.TrimPrefix(context.Cause(w.run.ctx).Error(), string(Cancelled)+": ")
		return why + last
	}
	return o.Verdict.Reason
}

// isUnfinished reports whether the wait, or its list, has started an operation, or may have, and no response has
// reported its end.
func (w *wait) isUnfinished() bool {
	starter := w
	if w.lead != nil {
		starter = w.lead
	}
	hasStarted := starter.Starting || starter.Sent > 0 && !starter.Began.IsZero()
	isReported := w.Ended() || w.decided() && (w.Status == status.Success || w.last.verdict.Concludes)
	return hasStarted && !isReported
}

// keptAtEnd returns the State that a later run goes on from after this ending. It has no Ending if
// Finalize made a failure of a success, since a later run may use the result, or if the caller said
// that the wait has failed, since nobody saw what became of the operation. Nor has the State of an operation
// that is unfinished.
func (w *wait) keptAtEnd(how Ending, o Outcome) State {
	if o.Resumed {
		return *w.p.Past
	}
	s := w.State
	if s.Limit.left(time.Now()) <= 0 {
		s.Limit = nil
	}
	isBroken := o.Cause != nil && w.hopeless == nil
	if o.Ending == how && (how == Succeeded || how == Failed && !isBroken && !o.Unfinished) && !w.unsent {
		ended := State{
			Start: s.Start, Began: s.Began, Last: s.Last, Attempts: s.Attempts, Sent: s.Sent,
			Messages: s.Messages, Heard: s.Heard,
			Status: o.Status, Reason: o.Reason, Ending: o.Ending, Elapsed: o.Elapsed,
		}
		ended.Limit = s.Limit      // which is about other targets, too
		if o.Ending == Succeeded { // its result may be looked at again
			ended.progress = s.progress
			ended.LastLook, ended.Reserved = false, false
		}
		return ended
	}
	if s.LastLook { // the next run has another deadline
		s.Due, s.LastLook = time.Time{}, false
	}
	return s
}
