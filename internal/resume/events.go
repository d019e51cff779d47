package resume

import "github.com/pollcli/poll/poll"

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
