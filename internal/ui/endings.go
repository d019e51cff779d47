package ui

import (
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An end says what an ending means.
type end struct {
	ending poll.Ending
	key    string        // the word for programs
	status status.Status // of all that was waited for; it agrees with the exit code
	state  string        // of one of several targets that is not pending
}

// ends returns what each ending means.
func ends() [8]end {
	return [...]end{
		{poll.Succeeded, "succeeded", status.Success, "SUCCESS"},
		{poll.Failed, "failed", status.Error, "ERROR"},
		{poll.CannotRun, "cannot_run", status.Error, "ERROR"},
		{poll.HintTooLong, "throttled", status.Throttled, ""},
		{poll.AttemptsExhausted, "exhausted", status.NotReady, "out of attempts"}, // "2 attempts exhausted" would count attempts
		{poll.TimedOut, "timed_out", status.NotReady, ""},
		{poll.Interrupted, "interrupted", status.NotReady, "interrupted"},
		{poll.Cancelled, "cancelled", status.NotReady, "cancelled"},
	}
}

// endOf returns what an ending means.
func endOf(e poll.Ending) end {
	for _, known := range ends() {
		if known.ending == e {
			return known
		}
	}
	return end{status: status.NotReady}
}

// endedByVerdict reports whether the status alone explains the ending.
func endedByVerdict(e poll.Ending) bool { return endOf(e).status.Ends() }

// isOpen reports whether only the time was too short.
func isOpen(e poll.Ending) bool { return e == poll.TimedOut || e == poll.HintTooLong }

// statusAtEnd returns the status of a run that has ended; None if nothing was observed. That of
// the last answer may be another.
func statusAtEnd(o *poll.Outcome) status.Status {
	if o.Status == status.None {
		return o.Status
	}
	return endOf(o.Ending).status
}

// decisive returns the reason that tells most of how a run ended. The run's own would
// repeat the limit, or the signal.
func decisive(o *poll.Outcome) string {
	if endedByVerdict(o.Ending) {
		return o.Reason
	}
	return o.Verdict.Reason
}

// over reports whether a target has ended.
func (r *Row) over() bool { return r.ending != "" }

// isLacking reports whether a target has ended, and not as was waited for.
func (r *Row) isLacking() bool { return r.over() && r.ending != poll.Succeeded }

// isMissed reports whether a target ended without what was waited for, and was not cancelled.
func (r *Row) isMissed() bool { return r.isLacking() && r.ending != poll.Cancelled }

// state says in a word where one of several targets stands.
func (r *Row) state() string {
	switch {
	case r == nil || r.status == status.None && !r.over():
		return "waiting"
	case isOpen(r.ending):
		return "still " + r.pending()
	case !r.over():
		return r.pending()
	}
	return endOf(r.ending).state
}

// pending returns the status of a target that is not done. A SUCCESS or an ERROR was then not seen
// often enough.
func (r *Row) pending() string {
	if r.status == status.Throttled || r.ending == poll.HintTooLong {
		return string(status.Throttled)
	}
	return string(status.NotReady)
}

// tone returns the colour of the state.
func (r *Row) tone() term.Tone {
	if r.isMissed() {
		return term.Bad
	}
	return term.Tone(r.state())
}

// endings counts the targets by how they ended, those that go on under "".
func (b *Board) endings() map[poll.Ending]int {
	n := map[poll.Ending]int{"": b.size}
	for _, r := range b.rows {
		if r != nil && r.over() {
			n[r.ending]++
			n[""]--
		}
	}
	return n
}
