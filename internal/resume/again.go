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
