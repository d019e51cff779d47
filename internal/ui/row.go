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

// A meaning describes an ending to people and programs.
type meaning struct {
	ending poll.Ending
	key    string        // the word for programs
	status status.Status // of all targets together; it agrees with the exit code
	state  string        // of one of several targets
}

// meanings returns the meaning of each ending, and under "" the meaning of a target before its end.
func meanings() [9]meaning {
	return [...]meaning{
		{poll.Succeeded, "succeeded", status.Success, "done"},
		{poll.Failed, "failed", status.Error, "failed"},
		{poll.CannotRun, "cannot_run", status.Error, "failed"},
		{poll.HintTooLong, "throttled", status.Throttled, "throttled"},
		{poll.AttemptsExhausted, "exhausted", status.NotReady, "out of attempts"}, // "2 attempts exhausted" would count attempts
		{poll.TimedOut, "timed_out", status.NotReady, "not done"},
		{poll.Interrupted, "interrupted", status.NotReady, "interrupted"},
		{poll.Cancelled, "cancelled", status.NotReady, "cancelled"},
		{"", "", status.NotReady, "waiting"},
	}
}

// meaningOf returns the meaning of an ending.
func meaningOf(e poll.Ending) (m meaning) {
	for _, m = range meanings() {
		if m.ending == e {
			break
		}
	}
	return m
}

// byVerdict reports whether the status alone explains the ending.
func byVerdict(e poll.Ending) bool { return meaningOf(e).status.Ends() }

// isOpen reports whether only the time was too short.
func isOpen(e poll.Ending) bool { return e == poll.TimedOut || e == poll.HintTooLong }

// A Row is the state of a target, or of a list whose elements are targets. It is small, since
// there may be many rows.
type Row struct {
	n       int // from 1; 0 for a single wait and for a list
	name    string
	status  status.Status // of the last attempt or, after the end, of the outcome
	reason  string        // of the status, on one line
	pattern string        // the reason without numbers, since targets may differ in numbers
	attempt int           // the attempt that is waited for, under way, or was the last
	checked int           // the last attempt that has ended, or 0
	began   time.Duration // since the start of the board
	limit   time.Duration // of the wait, or 0

	phase     poll.EventKind // a wait, a start or an attempt; "" after the end
	since     time.Time      // the start of the phase
	due       time.Time      // the next attempt
	held      poll.HeldBy    // the reason why a due attempt does not start
	messages  int            // of its streams
	heard     time.Time      // the last message
	trouble   bool           // of a list: its elements could not be read
	operation time.Time      // zero before the start of the operation

	ending   poll.Ending // "" before the end
	elapsed  time.Duration
	outcome  *poll.Outcome // of a list, nil before its end
	progress shown         // of the last response that has any
	logged   logged
}

// newRow returns the row of the target of its first event.
func newRow(ev poll.Event, began time.Duration) *Row {
	return &Row{n: ev.N, name: ev.Target, began: began, limit: timeoutOf(ev)}
}

// update reads an event before the end.
func (r *Row) update(ev poll.Event) {
	r.messages, r.heard = ev.State.Messages, ev.State.Heard
	if ev.Kind == poll.EventAttempt || ev.Kind == poll.EventMessage {
		r.status, r.checked = statusOf(ev), attemptOf(ev)
		r.setReason(reasonOf(ev))
		r.trouble = ev.Verdict.Status != status.NotReady || ev.Observation != nil && !ev.Observation.Good()
	}
	if ev.Kind != poll.EventMessage {
		r.phase, r.since, r.due, r.held = ev.Kind, ev.At, ev.State.Due, ev.HeldBy
		r.operation = ev.State.Began
	}
	if hint := hintOf(ev); hint != nil && r.checked == 0 { // of a response in an earlier run
		r.setReason(hintWords(hint))
	}
}

// neverSeen is the reason of an element that was in no response of its list.
const neverSeen = "never seen"

// end reads the outcome of a target.
func (r *Row) end(o *poll.Outcome) {
	r.phase, r.status, r.ending, r.elapsed = "", o.Status, o.Ending, o.Elapsed
	switch {
	case r.n == 0:
		r.outcome = o
		r.setReason(oneLine(reasonAtEnd(o)))
	case isNeverSeen(o):
		r.setReason(neverSeen)
	case byVerdict(o.Ending):
		r.setReason(oneLine(o.Reason))
	default: // o.Reason repeats the limit, or the signal
		r.setReason(oneLine(o.Verdict.Reason))
	}
}

// isNeverSeen reports whether an element was in no response of its list.
func isNeverSeen(o *poll.Outcome) bool {
	return o.Observation != nil && o.Observation.Presence == status.Missing && !o.State.Shown
}

// number matches the parts of a reason that differ between targets: 41, 1m30s, 10.0.0.7, job-41. It does not
// match the code of a response.
var number = words.Pattern(`(HTTP|exit) \d+|[\w-]*\d[\w.-]*`)

// setReason sets the reason and its pattern.
func (r *Row) setReason(words string) {
	if words == r.reason {
		return
	}
	r.reason = words
	r.pattern = number().ReplaceAllStringFunc(words, func(found string) string {
		if strings.Contains(found, " ") {
			return found
		}
		return "..."
	})
}

// over reports whether a target has ended.
func (r *Row) over() bool { return r.ending != "" }

// hasFailed reports whether a target ended with an ERROR.
func (r *Row) hasFailed() bool { return meaningOf(r.ending).status == status.Error }

// isLacking reports whether a target has ended without success.
func (r *Row) isLacking() bool { return r.over() && r.ending != poll.Succeeded }

// isMissed reports whether a target has ended without success, and was not cancelled.
func (r *Row) isMissed() bool { return r.isLacking() && r.ending != poll.Cancelled }

// tone returns the color of a row. A target that was not done in time has not failed.
func (r *Row) tone() term.Tone {
	m := meaningOf(r.ending)
	switch {
	case r.ending == poll.Cancelled:
		return term.Faint
	case r.status == status.Throttled && !m.status.Ends():
		return term.Slow
	}
	return term.Tone(m.status)
}

// key returns the same text for all targets of a bucket. All cancelled targets are in one bucket.
func (r *Row) key() string {
	if r.ending == poll.Cancelled {
		return string(r.ending)
	}
	return string(r.ending) + ", " + r.pattern
}

// running returns how long the operation of a row has been running, 0 before its start.
func (r *Row) running(now time.Time) time.Duration {
	if r.operation.IsZero() {
		return 0
	}
	return max(0, now.Sub(r.operation))
}

// next describes the attempt that is under way, or comes next.
func (r *Row) next(now time.Time) string {
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

// heldWords returns why an attempt that is due does not start. It returns "" for "".
func heldWords(by poll.HeldBy) string {
	return map[poll.HeldBy]string{
		poll.HeldByGate: "held until its origin opens",
		poll.HeldByRate: "held by the shared rate",
	}[by]
}

// reasonOf returns the reason of a verdict, with the wait that the server wants and, if there is a threshold, the
// part of it that is reached.
func reasonOf(ev poll.Event) string {
	s := oneLine(ev.Verdict.Reason)
	if o := ev.Observation; o != nil && o.Hint != nil && !(ev.Verdict.Status == status.Throttled && ev.Verdict.Rule == "") {
		s = joined(", ", s, hintWords(o.Hint))
	}
	if ev.Threshold.Times > 1 {
		s += fmt.Sprintf(" (%d of %d", ev.State.Streak, ev.Threshold.Times)
		if ev.Observation == nil || !ev.Observation.Message || ev.Observation.Kind != status.KindCommand { // of lines, all count
			s += " in a row"
		}
		s += ")"
	}
	if held := ev.At.Sub(ev.State.Since); held < ev.Threshold.For {
		s += fmt.Sprintf(" (for %s of %s)", words.Short(held), words.Duration(ev.Threshold.For))
	}
	return s
}

// statusOf returns the status of an attempt. A SUCCESS that has to be seen longer is NOT_READY.
func statusOf(ev poll.Event) status.Status {
	if ev.Verdict.Status == status.Success && !ends(ev) {
		return status.NotReady
	}
	return ev.Verdict.Status
}

// reasonAtEnd returns the reason of an outcome, without the limit that the outcome's own reason repeats.
func reasonAtEnd(o *poll.Outcome) string {
	if o.Ending == poll.TimedOut || o.Ending == poll.AttemptsExhausted {
		return cmp.Or(o.Verdict.Reason, o.Reason)
	}
	return o.Reason
}

// ends reports whether an attempt ends its wait.
func ends(ev poll.Event) bool {
	held := ev.At.Add(-ev.Took).Sub(ev.State.Since) // until the start of the attempt
	return ev.Verdict.Status.Ends() && ev.State.Streak >= ev.Threshold.Times && max(0, held) >= ev.Threshold.For
}

// hintWords returns the wait that a server wants, in words.
func hintWords(h *status.Hint) string { return oneLine(h.Source) + " asks for " + words.Short(h.Wait) }

// hintOf returns the wait that the server wants. It returns nil if the event has another reason.
func hintOf(ev poll.Event) *status.Hint {
	if ev.Kind != poll.EventWait || ev.HeldBy != "" {
		return nil
	}
	return ev.State.Hint
}

// attemptOf returns the number of the attempt that is waited for, starts or has ended.
func attemptOf(ev poll.Event) int {
	if ev.Kind == poll.EventWait {
		return ev.State.Attempts + 1
	}
	return ev.State.Attempts
}

// timeoutOf returns the time limit of a wait, or 0.
func timeoutOf(ev poll.Event) time.Duration {
	if ev.Deadline.IsZero() {
		return 0
	}
	return ev.Deadline.Sub(ev.At) + ev.Elapsed
}
