package ui

import (
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A meaning is what an ending says to people and programs.
type meaning struct {
	ending poll.Ending
	key    string        // the word for programs
	status status.Status // of all that was waited for; it agrees with the exit code
	state  string        // of one of several targets that is not pending
}

// meanings returns the meaning of each ending.
func meanings() [8]meaning {
	return [...]meaning{
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

// meaningOf returns the meaning of an ending.
func meaningOf(e poll.Ending) meaning {
	for _, known := range meanings() {
		if known.ending == e {
			return known
		}
	}
	return meaning{status: status.NotReady}
}

// endedByVerdict reports whether the status alone explains the ending.
func endedByVerdict(e poll.Ending) bool { return meaningOf(e).status.Ends() }

// isOpen reports whether only the time was too short.
func isOpen(e poll.Ending) bool { return e == poll.TimedOut || e == poll.HintTooLong }

// statusAtEnd returns the status of a run that has ended; None if nothing was observed. The last
// answer may have had another.
func statusAtEnd(o *poll.Outcome) status.Status {
	if o.Status == status.None {
		return o.Status
	}
	return meaningOf(o.Ending).status
}

// decisive returns the reason that explains an ending best: without a verdict, the run's own
// only repeats the limit, or the signal.
func decisive(o *poll.Outcome) string {
	if endedByVerdict(o.Ending) {
		return o.Reason
	}
	return o.Verdict.Reason
}

// over reports whether a target has ended.
func (r *Row) over() bool { return r.ending != "" }

// hasFailed reports whether a target ended with an ERROR.
func (r *Row) hasFailed() bool { return meaningOf(r.ending).status == status.Error }

// isLacking reports whether a target has ended, and not as was waited for.
func (r *Row) isLacking() bool { return r.over() && r.ending != poll.Succeeded }

// isMissed reports whether a target ended without what was waited for, and was not cancelled.
func (r *Row) isMissed() bool { return r.isLacking() && r.ending != poll.Cancelled }

// state returns the state of one of several targets, in a word or two.
func (r *Row) state() string {
	switch {
	case r == nil || r.status == status.None && !r.over():
		return "waiting"
	case isOpen(r.ending):
		return "still " + r.pending()
	case !r.over():
		return r.pending()
	}
	return meaningOf(r.ending).state
}

// pending returns the status of a target that is not done. A SUCCESS or an ERROR was then not seen
// often enough.
func (r *Row) pending() string {
	if r.status == status.Throttled || r.ending == poll.HintTooLong {
		return string(status.Throttled)
	}
	return string(status.NotReady)
}

// tone returns the colour of the state: what was not done in time has not failed.
func (r *Row) tone() term.Tone {
	if r.isMissed() && !r.hasFailed() {
		return term.Tone(r.pending())
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
