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
	"github.com/pollcli/poll/status"
)

// entryOf returns an entry with the state s. It leaves out the reason of the state, because a reason may quote a
// response.
func entryOf(id, name string, s poll.State) entry {
	s.Reason = ""
	return entry{ID: id, Name: name, State: s}
}

// entry returns the entry for the target, or the element of a list, that ev is about.
func (l *Log) entry(ev poll.Event) entry {
	e := entryOf(l.ids[ev.Target], ev.Target, ev.State)
	if l.elements != "" && ev.N > 0 {
		e.ID, e.Key, e.Name = l.elements, &ev.Target, ""
	}
	return e
}

// Observe processes an event of the run. It writes the state of a target to the file at once if a later run needs
// this state even if the current run is killed: after a start request, after a response that names another URL to
// check, and after an attempt that ends a streak (see endsStreak). It also writes the state of each new element of a
// list. Observe only remembers the state of the list itself, and Close writes that state, because no event reports
// the end of a list.
func (l *Log) Observe(ev poll.Event) {
	isAttempt, isWait := ev.Kind == poll.EventAttempt, ev.Kind == poll.EventWait
	switch {
	case l == nil:
	case ev.Kind == poll.EventEnd:
		l.worst = max(l.worst, fateOfTarget(ev.Outcome, ev.State))
	case isAttempt && (ev.Observation.Start || ev.Observation.Next != "" || ev.State.Sent == ev.State.Attempts ||
		l.endsStreak(ev) || l.isNew(ev)):
		l.file.write(l.entry(ev))
		delete(l.open, ev.Target)
	case l.elements != "" && ev.N == 0 && (isAttempt || isWait):
		l.open[ev.Target] = l.entry(ev)
	}
}

// isNew reports whether ev is about an element of a list that has just become NOT_READY or THROTTLED. This is the
// case for the first attempt that finds a new element, unless the element has already ended.
func (l *Log) isNew(ev poll.Event) bool {
	return l.elements != "" && ev.N > 0 && ev.State.Streak == 1 && !ev.State.Status.Ends()
}

// endsStreak reports whether ev ends a streak in the file. A streak is a series of attempts with the same status,
// which thresholds count. Only a streak of SUCCESS or ERROR matters.
func (l *Log) endsStreak(ev poll.Event) bool {
	past, _ := l.file.past(l.entry(ev).ID)
	return past.State.Status.Ends() && ev.State.Streak == 1 && ev.State.Status != past.State.Status
}

// End records the state of a target at the end of the run. exit is the exit code of poll for the target. If the
// target has not ended, End writes the state at once, and record does nothing. Otherwise, the caller must call
// record after the result of the target was delivered. If the result is lost before this call, a later run gets the
// result again.
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

// Exit returns the exit code of a target that ended in an earlier run, or nil if the file does not contain the
// code.
func (l *Log) Exit(ev poll.Event) *int {
	past, _ := l.file.past(l.entry(ev).ID)
	return past.Exit
}

// Err returns the error that prevents a later run from continuing the wait, or nil.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	return l.file.problem()
}

// Fate returns the fate of the file after a wait with the ending how. If l is nil, Fate returns Over. A successful
// wait is over for the user, although operations of other targets may still be running.
func (l *Log) Fate(how poll.Ending) Fate {
	switch {
	case l == nil, how == poll.Succeeded:
		return Over
	case how != poll.Failed && how != poll.CannotRun, l.Err() != nil:
		return Kept
	}
	return l.worst
}

// Notes returns notes for the user about the file, after a wait with the ending how.
func (l *Log) Notes(how poll.Ending) (notes []string) {
	switch {
	case l == nil:
		return nil
	case l.reopened != "":
		notes = append(notes, l.reopened+" had succeeded in an earlier slice, but is not done now: give a --name for each account")
	}
	if (l.Resume || l.Slice > 0) && l.Fate(how) == Warned {
		notes = append(notes, "the same command does not send the start request again while its job log exists: rm '"+l.file.path+"'")
	}
	return notes
}

// Close closes the file. If the file belongs to a wait in slices, and its fate f is Over, Close removes the file.
// Close returns an error if the file does not contain all entries.
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

// A Fate determines whether the file of a wait is kept after the wait. The end of a wait is not always the end of
// the operation that the wait started. Such an operation has ended only if a successful response reports its end.
type Fate int

// The fates. A higher value takes precedence if several targets have different fates.
const (
	Over   Fate = iota - 1 // no later run continues the wait; the file of a wait in slices is removed
	Kept                   // a later run continues the wait
	Warned                 // kept; the same command line does not send the start request again until the file is removed
)

// fateOfTarget returns the fate of a target that has ended with the outcome o. kept is the state of the target that
// goes into the file.
func fateOfTarget(o *poll.Outcome, kept poll.State) Fate {
	switch {
	case o.Unfinished: // an operation was started, or may have been started, and no response has reported its end
		return Warned
	case o.Ending == poll.Failed && !kept.Ended():
		return Kept
	}
	return Over
}

// checkedAgain returns a copy of p for one more attempt after a SUCCESS in an earlier run. The attempt never
// starts an operation.
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
			s.Attempts = min(s.Attempts, past.Attempts) // the limit on attempts is computed from the list
			p.Elements.Past[key] = again(s)
		}
	}
	p.Past, p.MaxAttempts, p.SuccessThreshold = new(again(past)), past.Attempts+1, poll.Threshold{}
	p.Start = time.Now() // the start for the Timeout; $elapsed is counted from the Start of p.Past
	p.Starting = func(poll.State) error { return errors.New("it would start the operation again") }
	return p
}

// CheckAgain returns o. If the wait had already ended in an earlier run, CheckAgain adds a note to o. If the wait
// had ended with SUCCESS, CheckAgain also makes one more attempt, which starts no operation, and puts the new
// response into o if the attempt succeeds. It makes no such attempt for an HTTP probe with Follow "none" and a
// Method other than "", GET and HEAD.
func CheckAgain(ctx context.Context, p poll.Poller, o poll.Outcome) *poll.Outcome {
	note := "the wait ended in an earlier run"
	h, isHTTP := p.Probe.(*poll.HTTP)
	switch {
	case !o.Resumed:
		return &o
	case o.Ending != poll.Succeeded:
	case isHTTP && h.Follow == "none" && !slices.Contains([]string{"", http.MethodGet, http.MethodHead}, h.Method):
		note += ", and the " + h.Method + " is not sent again to get its result"
	default:
		p = checkedAgain(p)
		again, _ := p.Run(ctx)
		if again.Ending == poll.Succeeded {
			o.Verdict, o.Observation, o.Reason = again.Verdict, again.Observation, again.Reason
			note += ", and poll requested its result again"
		} else {
			note += ", and poll does not print its result again: " + again.Reason
		}
	}
	o.Hints = append(o.Hints, status.Hint{Text: note})
	return &o
}

// CheckAgain makes one more attempt for each target that succeeded in an earlier slice, because the same command
// line may since refer to another account. goal is the summary of a group that has succeeded, and CheckAgain adjusts
// it. If a successful response shows that a target is not done, the target is open again: the slice lasts until
// inTime is done, and the next slice continues to wait for the target. If no time is left for an attempt, the next
// slice makes the attempt.
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
			l.file.write(l.entry(e)) // the SUCCESS in the file no longer holds
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
	if goal.Endings[poll.TimedOut]+goal.Endings[poll.Cancelled] > 0 { // the goal may still be reached
		<-inTime.Done()
		goal.Ending = poll.TimedOut
	}
	if signal, isSignal := errors.AsType[*system.SignalError](context.Cause(inTime)); isSignal {
		goal.Ending, goal.Cause = poll.Interrupted, signal
	}
}

// WaitOut returns ev, the final event of a slice, adapted for the caller of the slice. A group that has not
// succeeded gets the ending of a target that is still open. If a requested wait (Retry-After) is longer than the
// time left, WaitOut blocks until inTime is done, because the caller would otherwise start the next slice at once.
// isSingle is true for a run with a single target.
func WaitOut(inTime context.Context, ev poll.Event, isSingle bool) poll.Event {
	all, one := ev.Summary, ev.Outcome
	if all != nil && all.Ending != poll.Succeeded && all.Ending != poll.Interrupted {
		for _, open := range []poll.Ending{poll.ThrottledTooLong, poll.TimedOut} {
			if all.Endings[open] > 0 {
				all.Ending = open
			}
		}
	}
	isOne := isSingle && one != nil && one.Ending == poll.ThrottledTooLong
	if !isOne && (all == nil || all.Ending != poll.ThrottledTooLong) {
		return ev
	}
	<-inTime.Done()
	waited := time.Since(ev.At)
	ev.At, ev.Elapsed = ev.At.Add(waited), ev.Elapsed+waited
	if isOne { // the wait has no time left
		one.Elapsed, one.Reason = one.Elapsed+waited, cmp.Or(one.Verdict.Reason, one.Reason)
	} else {
		all.Elapsed += waited
	}
	return ev
}
