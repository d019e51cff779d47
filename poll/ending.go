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
	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/status"
)

// stopped returns the ending if the origin, the caller or the group's goal has stopped the wait, and ""
// otherwise. The ending is ThrottledTooLong if the origin accepts no request before the deadline. In any other
// case it is the result of run.stopped.
func (w *wait) stopped() Ending {
	if w.closedPastDeadline != "" {
		return ThrottledTooLong
	}
	return w.run.stopped()
}

// stopped returns the ending for targets that were stopped by the caller's context or by the group's goal, and
// "" if neither has stopped them. The ending is Failed, Interrupted or Cancelled. It is "" if the deadline of
// the caller's context has passed, except in a [Poller.Step].
func (r *run) stopped() Ending {
	err := r.caller.Err()
	switch {
	case err != nil && r.broken() != nil:
		return Failed
	case err != nil && (r.stepping || !errors.Is(err, context.DeadlineExceeded)):
		return Interrupted
	case errors.Is(context.Cause(r.ctx), Cancelled):
		return Cancelled
	}
	return ""
}

// broken returns the cause with which the caller canceled the context if that cause is a [Permanent] error, and
// nil otherwise.
func (r *run) broken() error {
	if cause := context.Cause(r.caller); isPermanent(cause) {
		return cause
	}
	return nil
}

// ending returns how the wait ends after an attempt, or "" if the wait continues. If several endings apply,
// ending returns the first one in this order: the ending determined by the verdict, the result of stopped,
// ThrottledTooLong, AttemptsExhausted, TimedOut. Only the verdict ends an element of a list, because limits
// such as MaxAttempts apply to the list as a whole.
func (w *wait) ending(now time.Time) Ending {
	switch how := w.stopped(); {
	case w.decided() && w.Status == status.Error:
		return Failed
	case w.decided() && w.Status == status.Success:
		return Succeeded
	case w.element != nil:
		return ""
	case how != "":
		return how
	case w.hintTooLong(now):
		return ThrottledTooLong
	case w.p.MaxAttempts > 0 && w.Attempts >= w.p.MaxAttempts:
		return AttemptsExhausted
	case !w.deadline.IsZero() && w.deadline.Sub(now) < minReserve:
		return TimedOut
	}
	return ""
}

// endingOfPast returns the ending of a resumed wait that needs or allows no further attempt, and "" for any
// other wait. Such a wait ended in an earlier run, may have started its operation without receiving a response,
// or has used up MaxAttempts.
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

// outcome returns the Outcome of a wait that ends with the given ending. For a wait that ended in an earlier
// run, it returns the result of that run.
func (w *wait) outcome(ending Ending) Outcome {
	if ending == Succeeded && w.final != nil {
		return *w.final
	}
	c := w.complete
	if c.observation == nil {
		c = w.last
	}
	o := Outcome{
		Target:      w.p.Target,
		Ending:      ending,
		Status:      w.Status,
		Verdict:     c.verdict,
		Observation: c.observation,
	}
	if w.Ending != "" { // the wait ended in an earlier run
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
		o.Status = status.NotReady // the verdict did not reach its threshold
	}
	o.Reason = w.reason(o)
	isCorrection := func(h status.Hint) bool { return h.Kind == status.HintCorrection }
	o.Hints = slices.DeleteFunc(slices.Clone(o.Verdict.Hints), isCorrection)
	if ending == Succeeded && w.neverFound(o) {
		o.Hints = append(o.Hints, status.Hint{Text: "nothing was there at the first attempt, either: is the name right?"})
	}
	if ending != Succeeded && o.Observation != nil {
		w.explain(&o)
	}
	return o
}

// neverFound reports whether a wait for something to disappear never saw it exist. The name may then be
// misspelled.
func (w *wait) neverFound(o Outcome) bool {
	isHere := func(rule status.Rule) bool { return rule.Here }
	return !w.wasPending && w.p.Past == nil && o.Observation.Failure != nil && slices.ContainsFunc(w.rules.Own, isHere)
}

// explain adds hints to o that explain why no verdict ended the wait.
func (w *wait) explain(o *Outcome) {
	last, needed := w.last.verdict.Status, w.threshold()
	switch {
	case o.Ending == Failed, o.Ending == CannotRun:
	case w.Streak < needed.Times:
		o.Hints = append(o.Hints, status.Hint{Text: fmt.Sprintf("the last verdict was %s, %d of %d in a row", last, w.Streak, needed.Times)})
	case w.held() < needed.For:
		o.Hints = append(o.Hints, status.Hint{Text: fmt.Sprintf("the last verdict was %s, for %s of %s", last, words.Short(w.held()), words.Duration(needed.For))})
	}
	o.Hints = slices.Concat(o.Hints, w.coach.Notes(o.Observation.Kind), coach.MissingDetail(o.Observation, w.rules.Detail))
	if o.Ending != Failed || o.Verdict.Rule == "" {
		o.Hints = append(o.Hints, w.coach.Hints()...)
	}
}

// reason returns a human-readable reason why the wait ended.
func (w *wait) reason(o Outcome) string {
	if w.hopeless != nil {
		return w.hopeless.Error()
	}
	last := o.Verdict.Reason
	if last != "" {
		last = "; last: " + last
	}
	switch o.Ending {
	case ThrottledTooLong:
		asked := o.Verdict.Reason
		if w.closedPastDeadline != "" {
			asked = w.closedPastDeadline
		} else if requested := cmp.Or(w.RetryAfter, o.Observation.RetryAfter); requested != nil && !(o.Verdict.Status == status.Throttled && o.Verdict.Rule == "") { // an element gets its RetryAfter from the list's response
			asked = fmt.Sprintf("%s; %s asks for a wait of %s", asked, requested.Source, words.Duration(requested.Wait))
		}
		return fmt.Sprintf("%s, and %s are left before the deadline", asked, words.Short(time.Until(w.deadline)))
	case AttemptsExhausted:
		return fmt.Sprintf("attempts made: %d of %d%s", w.Attempts, w.p.MaxAttempts, last)
	case TimedOut:
		limit := w.budget
		if limit != w.p.Timeout { // the limit is the context's deadline, which was set a moment earlier
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

// isUnfinished reports whether an operation that the wait started may still be running: the wait, or the list
// to which it belongs, has or may have started an operation, and no response has reported the operation's end.
func (w *wait) isUnfinished() bool {
	starter := w
	if w.parent != nil {
		starter = w.parent
	}
	hasStarted := starter.Starting || starter.Sent > 0 && !starter.Began.IsZero()
	isReported := w.Ended() || w.decided() && (w.Status == status.Success || w.last.verdict.Concludes)
	return hasStarted && !isReported
}

// keptAtEnd returns the State to save after the wait has ended. how is the ending, and o is the outcome. A
// later run can continue from the State if its Ending is "".
//
// The State gets an Ending only if a later run has nothing left to do. After Succeeded or Failed the Ending is
// still "" in these cases:
//
//   - Finalize turned a success into a failure, because a later run may be able to use the result.
//   - The caller ended the wait with a [Permanent] cause, because the state of the operation is unknown.
//   - The operation may still be running.
//   - The start request was not sent.
func (w *wait) keptAtEnd(how Ending, o Outcome) State {
	if o.Resumed {
		return *w.p.Past
	}
	s := w.State
	if s.Pause.left(time.Now()) <= 0 {
		s.Pause = nil
	}
	isBroken := o.Cause != nil && w.hopeless == nil
	if o.Ending == how && (how == Succeeded || how == Failed && !isBroken && !o.Unfinished) && !w.unsent {
		ended := State{
			Start: s.Start, Began: s.Began, Last: s.Last, Attempts: s.Attempts, Sent: s.Sent,
			Messages: s.Messages, Heard: s.Heard,
			Status: o.Status, Reason: o.Reason, Ending: o.Ending, Elapsed: o.Elapsed,
		}
		ended.Pause = s.Pause      // a pause that the origin requested applies to other targets, too
		if o.Ending == Succeeded { // a later run may fetch the result again
			ended.progress = s.progress
			ended.LastAttempt, ended.Reserved = false, false
		}
		return ended
	}
	if s.LastAttempt { // Due was chosen for a deadline that a later run does not have
		s.Due, s.LastAttempt = time.Time{}, false
	}
	return s
}
