package resume

import (
	"time"

	"github.com/pollcli/poll/poll"
)

// entryOf returns an entry. The reason of a state may quote a response, so it is not kept.
func entryOf(id, name string, s poll.State) entry {
	s.Reason = ""
	return entry{ID: id, Name: name, State: s}
}

// entry returns the entry of the target of an event.
func (l *Log) entry(ev poll.Event) entry {
	e := entryOf(l.ids[ev.Target], ev.Target, ev.State)
	if l.elements != "" && ev.N > 0 {
		e.ID, e.Key, e.Name = l.elements, &ev.Target, ""
	}
	return e
}

// Observe records an event. It writes the state of a target if a run that is killed must not forget it: after a
// start and where an operation is followed, and after a streak has ended. The state of a list is kept until the end, since
// no event reports that.
func (l *Log) Observe(ev poll.Event) {
	isAttempt, isWait := ev.Kind == poll.EventAttempt, ev.Kind == poll.EventWait
	switch {
	case l == nil:
	case ev.Kind == poll.EventEnd:
		l.worst = max(l.worst, fateOfTarget(ev.Outcome, ev.State))
	case isAttempt && (ev.Observation.Start || ev.Observation.Next != "" || ev.State.Sent == ev.State.Attempts):
		l.file.write(l.entry(ev))
		delete(l.open, ev.Target)
	case isAttempt && l.endsStreak(ev):
		l.file.write(l.entry(ev))
	case l.elements == "":
	case ev.N == 0 && (isAttempt || isWait):
		l.open[ev.Target] = l.entry(ev)
	case isAttempt && ev.State.Streak == 1 && !ev.State.Status.Ends(): // a new element
		l.file.write(l.entry(ev))
	}
}

// endsStreak reports whether an attempt ends a streak of the file.
func (l *Log) endsStreak(ev poll.Event) bool {
	past, _ := l.file.past(l.entry(ev).ID)
	return past.State.Status.Ends() && ev.State.Streak == 1 && ev.State.Status != past.State.Status
}

// End records the state of a target at the end of the run. If the target has ended, the caller records that by
// calling record, once its result was delivered: a later run looks for a result that was lost.
func (l *Log) End(ev poll.Event, exit int) (record func()) {
	nothing := func() {}
	if l == nil || ev.Outcome.Resumed || ev.State.Attempts == 0 {
		return nothing
	}
	e := l.entry(ev)
	delete(l.open, ev.Target)
	if e.State.Ended() {
		e.Exit = &exit
		return func() { l.file.write(e) }
	}
	l.file.write(e)
	return nothing
}

// Exit returns the exit code of a target that ended in an earlier run, nil if the file does not have the code.
func (l *Log) Exit(ev poll.Event) *int {
	past, _ := l.file.past(l.entry(ev).ID)
	return past.Exit
}

// Err returns the error that keeps a later run from continuing the wait, or nil.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	return l.file.problem()
}

// Fate returns the fate of the file of l after a wait with an ending. It returns Over if l is nil.
func (l *Log) Fate(how poll.Ending) Fate {
	if l == nil {
		return Over
	}
	return fateOf(how, l.worst, l.Err() == nil)
}

// Notes returns notes for the user about the file, for an ending.
func (l *Log) Notes(how poll.Ending) (notes []string) {
	switch {
	case l == nil:
		return nil
	case l.reopened != "":
		notes = append(notes, l.reopened+" had succeeded in an earlier slice, and is not done now: another account needs a --name")
	}
	if (l.Resume || l.Slice > 0) && l.Fate(how) == Warned {
		notes = append(notes, "the same line does not send the start again while its job log exists: rm '"+l.file.path+"'")
	}
	return notes
}

// Close closes the file, and removes it if it is the file of a slice that is over. The error reports entries that the file
// lacks.
func (l *Log) Close(f Fate) error {
	if l == nil {
		return nil
	}
	for _, e := range l.open {
		l.file.write(e)
	}
	if l.Slice > 0 && f != Over {
		l.file.compact()
	}
	return l.file.close(l.Slice > 0 && f == Over)
}

// A Fate is the fate of the file of a wait. The end of a wait is not the end of its operation: after a start,
// only a successful response that reports the end ends the operation.
type Fate int

// The fates, from the best.
const (
	Over   Fate = iota - 1 // no later run continues the wait: the file of a slice is removed
	Kept                   // a later run continues the wait
	Warned                 // kept, and the same line does not send the start again until the file is removed
)

// fateOf returns the fate at the end of a wait whose targets have fates up to worst. A wait that has Succeeded is over
// for its user, although the operations of other targets may still run.
func fateOf(how poll.Ending, worst Fate, isComplete bool) Fate {
	switch {
	case how == poll.Succeeded:
		return Over
	case how != poll.Failed && how != poll.CannotRun, !isComplete: // the file lacks an entry
		return Kept
	}
	return worst
}

// fateOfTarget returns the fate of a target at its end.
func fateOfTarget(o *poll.Outcome, kept poll.State) Fate {
	switch {
	case o.Unfinished: // an operation was started, or may have been, and no response has reported its end
		return Warned
	case o.Ending == poll.Failed && !kept.Ended():
		return Kept
	}
	return Over
}

// abandonedAfter is the age of the file of an abandoned wait in slices.
const abandonedAfter = time.Hour

// known holds facts about a file that a run opens.
type known struct {
	isEmpty  bool          // of all targets
	hasSome  bool          // of the targets of this run
	hasEnded bool          // all targets of this run have ended
	isOthers bool          // a start of another target, while a target of this run would start an operation
	age      time.Duration // of the newest line
}

// A decision is the use of a file that a run finds.
type decision int

const (
	resume    decision = iota // continue, if the file holds a wait
	replace                   // remove the file, and start another wait
	earlier                   // reject: the file belongs to an earlier run, and the line does not resume that run
	other                     // reject: the file belongs to another command
	abandoned                 // reject: the operation of the file may be an old one
)

// decide returns the use of a file.
func decide(k known, mayResume, isSlice bool) decision {
	switch isOld := isSlice && k.age > abandonedAfter; {
	case k.isEmpty:
		return resume
	case !mayResume:
		return earlier
	case isOld && k.hasEnded:
		return replace
	case !k.hasSome || k.isOthers:
		return other
	case isOld:
		return abandoned
	}
	return resume
}
