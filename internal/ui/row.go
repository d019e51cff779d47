package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A meaning describes an ending for people and for programs.
type meaning struct {
	ending poll.Ending
	key    string        // the ending in JSON
	status status.Status // the status of a run with this ending, which corresponds to the exit code
	state  string        // describes a number of targets with this ending, as in "3 done"
}

// meanings returns the meaning of each ending. The last element is for the ending "": the target has not ended.
func meanings() [9]meaning {
	return [...]meaning{
		{poll.Succeeded, "succeeded", status.Success, "done"},
		{poll.Failed, "failed", status.Error, "failed"},
		{poll.CannotRun, "cannot_run", status.Error, "failed"},
		{poll.ThrottledTooLong, "throttled", status.Throttled, "throttled"},
		{poll.AttemptsExhausted, "exhausted", status.NotReady, "out of attempts"}, // because "2 attempts exhausted" would seem to count attempts
		{poll.TimedOut, "timed_out", status.NotReady, "not done"},
		{poll.Interrupted, "interrupted", status.NotReady, "interrupted"},
		{poll.Cancelled, "cancelled", status.NotReady, "cancelled"},
		{"", "", status.NotReady, "waiting"},
	}
}

// meaningOf returns the meaning of the ending e.
func meaningOf(e poll.Ending) (m meaning) {
	for _, m = range meanings() {
		if m.ending == e {
			break
		}
	}
	return m
}

// byVerdict reports whether a verdict caused the ending e. The status then explains the ending.
func byVerdict(e poll.Ending) bool { return meaningOf(e).status.Ends() }

// isOpen reports whether a wait with the ending e ran out of time, so that a later run may succeed.
func isOpen(e poll.Ending) bool { return e == poll.TimedOut || e == poll.ThrottledTooLong }

// A boardRow is the display state of a target, or of a list whose elements are targets. It is kept small, because there
// may be very many rows.
type boardRow struct {
	n       int // the number of the target, from 1; 0 for a single wait and for a list
	name    string
	status  status.Status // the status of the last finished attempt, or None; after the end, the status of the outcome
	reason  string        // the reason for the status, on one line
	pattern string        // the result of reasonPattern; "" before its first call
	attempt int           // the number of the attempt that is next, is running or was the last
	began   time.Duration // when the wait for the target started, since the start of the run
	limit   time.Duration // the time limit of the target, or 0
	lasted  time.Duration // how long the last verdict has lasted, if a threshold applies to it; otherwise 0

	phase     poll.EventKind // the kind of the last event: a wait, a start or an attempt; "" after the end
	since     time.Time      // when the phase started
	due       time.Time      // when the next attempt is due
	held      string         // why an attempt that is due does not start, or ""
	messages  int            // the number of messages in the target's streams
	heard     time.Time      // when the last message arrived
	trouble   bool           // for a list, whether the last attempt could not read its elements
	operation time.Time      // when the operation started; zero before the start

	ending   poll.Ending // "" before the end
	elapsed  time.Duration
	outcome  *poll.Outcome // the outcome of a list; nil before its end, and for a target
	progress shown         // the progress in the last response that contains any
	logged   logged
}

// update updates the row according to an event that does not end the target.
func (r *boardRow) update(ev poll.Event) {
	r.messages, r.heard = ev.State.Messages, ev.State.Heard
	if ev.Kind == poll.EventAttempt || ev.Kind == poll.EventMessage {
		if r.status = ev.Verdict.Status; r.status == status.Success && !endsWait(ev) {
			r.status = status.NotReady // the SUCCESS must repeat or hold longer
		}
		r.setReason(reasonOf(ev))
		if r.lasted = 0; ev.Threshold.Times > 1 || ev.Threshold.For > 0 {
			r.lasted = ev.At.Sub(ev.State.Since)
		}
		r.trouble = ev.Verdict.Status != status.NotReady || !ev.Observation.Good()
	}
	if ev.Kind != poll.EventMessage {
		r.phase, r.since, r.due, r.held = ev.Kind, ev.At, ev.State.Due, ev.HeldBy
		r.operation = ev.State.Began
	}
	if asked := requestedWait(ev); asked != nil && r.status == status.None { // from a response in an earlier run
		r.setReason(waitWords(asked))
	}
}

// neverSeen is the reason for an element that has never appeared in its list.
const neverSeen = "never seen"

// end updates the row according to the outcome of its target.
func (r *boardRow) end(o *poll.Outcome) {
	r.phase, r.status, r.ending, r.elapsed = "", o.Status, o.Ending, o.Elapsed
	switch {
	case r.n == 0:
		r.outcome = o
		r.setReason(oneLine(reasonAtEnd(o)))
	case isNeverSeen(o):
		r.setReason(neverSeen)
	case byVerdict(o.Ending):
		r.setReason(oneLine(o.Reason))
	case o.Ending == poll.TimedOut && o.State.Attempts == 0:
		r.setReason(cmp.Or(oneLine(o.Verdict.Reason), "no attempt yet: see --rate and --parallel-max"))
	default: // o.Reason would repeat the limit or the signal
		r.setReason(oneLine(o.Verdict.Reason))
	}
}

// isNeverSeen reports whether o is the outcome of an element that has never appeared in its list.
func isNeverSeen(o *poll.Outcome) bool {
	return o.Observation != nil && o.Observation.Presence == status.Missing && !o.State.Shown
}

// number matches the parts of a reason that usually differ between targets, such as 41, 1m30s, 10.0.0.7 or job-41.
// It also matches an HTTP status or an exit code, such as "HTTP 404", which reasonPattern keeps.
var number = words.Pattern(`(HTTP|exit) \d+|[\w-]*\d[\w.-]*`)

// setReason sets the row's reason.
func (r *boardRow) setReason(words string) {
	if words != r.reason {
		r.reason, r.pattern = words, ""
	}
}

// reasonPattern returns the reason with "..." in place of numbers, so that similar targets have the same pattern.
func (r *boardRow) reasonPattern() string {
	if r.pattern == "" {
		r.pattern = number().ReplaceAllStringFunc(r.reason, func(found string) string {
			if strings.Contains(found, " ") {
				return found
			}
			return "..."
		})
	}
	return r.pattern
}

// over reports whether the target has ended.
func (r *boardRow) over() bool { return r.ending != "" }

// hasFailed reports whether the target ended with the status ERROR.
func (r *boardRow) hasFailed() bool { return meaningOf(r.ending).status == status.Error }

// isLacking reports whether the target has ended, but not with success.
func (r *boardRow) isLacking() bool { return r.over() && r.ending != poll.Succeeded }

// isMissed reports whether the target has ended without success, and was not cancelled.
func (r *boardRow) isMissed() bool { return r.isLacking() && r.ending != poll.Cancelled }

// tone returns the color of a row. A target that was not done in time does not have the color of a failure.
func (r *boardRow) tone() term.Tone {
	m := meaningOf(r.ending)
	switch {
	case r.ending == poll.Cancelled:
		return term.Faint
	case r.status == status.Throttled && !m.status.Ends():
		return term.Slow
	}
	return term.Tone(m.status)
}

// key returns a string that is the same for all targets of a [bucket]. All cancelled targets are in the same
// bucket.
func (r *boardRow) key() string {
	if r.ending == poll.Cancelled {
		return string(r.ending)
	}
	return string(r.ending) + ", " + r.reasonPattern()
}

// running returns how long the row's operation has been running. It returns 0 if the operation has not started.
func (r *boardRow) running(now time.Time) time.Duration {
	if r.operation.IsZero() {
		return 0
	}
	return max(0, now.Sub(r.operation))
}

// next describes the attempt that is running or comes next, such as "busy 3s" or "next 4.2s".
func (r *boardRow) next(now time.Time) string {
	left, busy := max(0, r.due.Sub(now)), now.Sub(r.since)
	switch {
	case r.phase == poll.EventWait && left < 10*time.Second:
		return fmt.Sprintf("next %.1fs", left.Seconds())
	case r.phase == poll.EventWait:
		return "next " + words.Short(left)
	case r.phase == poll.EventStart && r.messages > 0:
		return words.Count(r.messages, "message") + ", the last " + words.Short(max(0, now.Sub(r.heard)).Truncate(time.Second)) + " ago"
	case busy >= time.Second:
		return "busy " + words.Short(busy.Truncate(time.Second))
	}
	return "busy"
}

// heldWords describes why an attempt that is due does not start yet. It returns "" if by is "".
func heldWords(by string) string {
	return map[string]string{
		"gate": "held until its origin opens",
		"rate": "held by the rate",
	}[by]
}

// reasonOf returns the reason for an attempt's verdict. It includes the wait that the server requires, if any. If
// the verdict must repeat or hold for some time before it counts, reasonOf also includes the progress toward that
// threshold.
func reasonOf(ev poll.Event) string {
	s := oneLine(ev.Verdict.Reason)
	if o := ev.Observation; o.RetryAfter != nil && !(ev.Verdict.Status == status.Throttled && ev.Verdict.Rule == "") {
		s = joined(", ", s, waitWords(o.RetryAfter))
	}
	if ev.Threshold.Times > 1 {
		s += fmt.Sprintf(" (%d of %d", ev.State.Streak, ev.Threshold.Times)
		if !ev.Observation.Message || ev.Observation.Kind != status.KindCommand { // the lines of a command need not be consecutive
			s += " in a row"
		}
		s += ")"
	}
	if held := ev.At.Sub(ev.State.Since); held < ev.Threshold.For {
		s += fmt.Sprintf(" (for %s of %s)", words.Short(held), words.Duration(ev.Threshold.For))
	}
	return s
}

// reasonAtEnd returns the reason for an outcome. If a limit ended the wait, it returns the reason of the last
// verdict instead, because the closing line already names the limit.
func reasonAtEnd(o *poll.Outcome) string {
	if o.Ending == poll.TimedOut || o.Ending == poll.AttemptsExhausted {
		return cmp.Or(o.Verdict.Reason, o.Reason)
	}
	return o.Reason
}

// endsWait reports whether an attempt's verdict ends its wait.
func endsWait(ev poll.Event) bool {
	held := ev.At.Add(-ev.Took).Sub(ev.State.Since) // how long the verdict had held when the attempt started
	return ev.Verdict.Status.Ends() && ev.State.Streak >= ev.Threshold.Times && max(0, held) >= ev.Threshold.For
}

// waitWords describes the wait that a server requires, such as by Retry-After.
func waitWords(h *status.RetryAfter) string {
	return oneLine(h.Source) + " asks for " + words.Short(h.Wait)
}

// requestedWait returns the wait that a server requires, if ev is an EventWait. It returns nil for any other event,
// and if the attempt is held back for another reason.
func requestedWait(ev poll.Event) *status.RetryAfter {
	if ev.Kind != poll.EventWait || ev.HeldBy != "" {
		return nil
	}
	return ev.State.RetryAfter
}

// timeoutOf returns the time limit of the wait, or 0 if the wait has no limit.
func timeoutOf(ev poll.Event) time.Duration {
	if ev.Deadline.IsZero() {
		return 0
	}
	return ev.Deadline.Sub(ev.At) + ev.Elapsed
}
