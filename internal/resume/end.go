package resume

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/system"
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

// checkedAgain returns a wait that makes one more attempt after a SUCCESS of an earlier run, and starts nothing.
func checkedAgain(p poll.Poller) poll.Poller {
	again := func(s poll.State) poll.State {
		s.Due, s.Ending = time.Now(), ""
		return s
	}
	past := poll.State{}
	if p.Past != nil {
		past = *p.Past
	}
	if p.Elements != nil {
		for key, s := range p.Elements.Past {
			s.Attempts = min(s.Attempts, past.Attempts) // the list has the limit
			p.Elements.Past[key] = again(s)
		}
	}
	p.Past, p.MaxAttempts, p.SuccessThreshold = new(again(past)), past.Attempts+1, poll.Threshold{}
	p.Start = time.Now() // of its Timeout; $elapsed counts from the Start of the Past
	p.Starting = func(poll.State) error { return errors.New("it would start the operation again") }
	return p
}

// LookAgain returns the outcome of a wait that had ended in an earlier run, with a note. A SUCCESS has the
// response to one more attempt, which starts nothing. Another outcome does not change.
func LookAgain(ctx context.Context, p poll.Poller, o poll.Outcome) *poll.Outcome {
	if !o.Resumed {
		return &o
	}
	note := "that was in an earlier run"
	if o.Ending == poll.Succeeded {
		note += look(ctx, p, &o)
	}
	o.Notes = append(o.Notes, note)
	return &o
}

// look attempts to get the result of a target once more, and returns a description.
func look(ctx context.Context, p poll.Poller, o *poll.Outcome) string {
	if h, ok := p.Probe.(*poll.HTTP); ok && h.Follow == "none" && !slices.Contains([]string{"", http.MethodGet, http.MethodHead}, h.Method) {
		return ", and the " + h.Method + " is not sent again to get its result"
	}
	p = checkedAgain(p)
	again, _ := p.Run(ctx)
	if again.Ending != poll.Succeeded {
		return ", and poll does not print its result again: " + again.Reason
	}
	o.Verdict, o.Observation, o.Reason = again.Verdict, again.Observation, again.Reason
	return ", and poll requested its result again"
}

// CheckAgain checks each target once more that succeeded in an earlier slice, and changes the summary of a group that
// has Succeeded: the same line may have another account by now. A target is open again if a successful response
// reports that. The slice then lasts until inTime is done, and the next slice continues with the target. The next
// slice makes the attempts that have no time left.
func (l *Log) CheckAgain(inTime context.Context, group poll.Group, goal *poll.Summary) {
	began := time.Now()
	defer func() { goal.Elapsed += time.Since(began) }()
	for e := range group.Events(inTime, slices.Values(l.earlier)) {
		if e.Kind != poll.EventEnd || e.N == 0 || e.Outcome.Ending == poll.Succeeded {
			continue
		}
		o, how := e.Outcome.Observation, e.Outcome.Ending
		isCut := how == poll.Interrupted || how == poll.TimedOut && goal.Attempts > 0
		isSeen := o != nil && o.Good() && o.Doubt == "" && o.Presence == 0 // an element is there
		if isSeen {
			l.reopened = e.Target
			l.file.write(l.entry(e)) // its end does not hold
		}
		if how != poll.Failed {
			how = poll.TimedOut
		}
		if isSeen || isCut {
			goal.Endings[poll.Succeeded]--
			goal.Endings[how]++
		}
	}
	if goal.Endings[poll.Succeeded] >= goal.Need {
		return
	}
	goal.Ending = poll.Failed
	if goal.Endings[poll.TimedOut]+goal.Endings[poll.Cancelled] > 0 { // the goal may be reached yet
		<-inTime.Done()
		goal.Ending = poll.TimedOut
	}
	if signal, isSignal := errors.AsType[*system.SignalError](context.Cause(inTime)); isSignal {
		goal.Ending, goal.Cause = poll.Interrupted, signal
	}
}

// WaitOut returns the end of a slice as its caller needs it. A group with an open target ends as that target. If a
// Retry-After is too long, the slice lasts until inTime is done: otherwise its caller would call again at once.
func WaitOut(inTime context.Context, ev poll.Event, isSingle bool) poll.Event {
	all, one := ev.Summary, ev.Outcome
	if all != nil && all.Ending != poll.Succeeded && all.Ending != poll.Interrupted {
		for _, open := range []poll.Ending{poll.HintTooLong, poll.TimedOut} {
			if all.Endings[open] > 0 {
				all.Ending = open
			}
		}
	}
	isOne := isSingle && one != nil && one.Ending == poll.HintTooLong
	if !isOne && (all == nil || all.Ending != poll.HintTooLong) {
		return ev
	}
	<-inTime.Done()
	waited := time.Since(ev.At)
	ev.At, ev.Elapsed = ev.At.Add(waited), ev.Elapsed+waited
	if isOne { // nothing is left before the deadline any more
		one.Elapsed, one.Reason = one.Elapsed+waited, cmp.Or(one.Verdict.Reason, one.Reason)
	} else {
		all.Elapsed += waited
	}
	return ev
}
