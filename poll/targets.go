package poll

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// A score counts the targets of a group and their ends.
type score struct {
	Summary
	unfinished int // waits that are not over
	live       int // targets that have not ended
	failed     int // targets, and lists, that have ended without success
	growing    int // the lists that may find more targets
	missing    int // how many more targets the lists should have
}

// add adds a wait for a target or for a list.
func (l *loop) add(w *wait) {
	if w.p.Elements != nil && !l.single {
		l.prepareList(w)
	} else {
		l.number(w)
	}
	w.Limit.restore(w.limiter)
	w.order = len(l.waits)
	l.waits = append(l.waits, w)
	l.unfinished++
}

// number counts w as a target, and sets its number.
func (l *loop) number(w *wait) {
	l.live++
	if l.Targets++; !l.single {
		w.n = l.Targets
	}
}

// unrunnable returns CannotRun if the program cannot be run, Failed if the start request must not be sent, and
// otherwise "". If it returns an ending, no attempt was made.
func (w *wait) unrunnable() Ending {
	f := w.last.observation.Failure
	switch {
	case w.unsent:
		return Failed
	case f != nil && (f.Kind == status.FailureNotFound || f.Kind == status.FailureNotExecutable):
		return CannotRun
	}
	return ""
}

// concludeTargets emits the verdict of an attempt, and ends each target that needs no further attempt.
func (l *loop) concludeTargets(w *wait) {
	now := time.Now()
	l.endSome(w, func(w *wait) Ending {
		isNews := w.lead == nil || w.lead.list.isNews(w)
		if isNews {
			e := w.event(EventAttempt, now)
			e.ofStart = w.Sent == w.Attempts && w.Sent > 0
			l.emit(e)
		}
		how := w.ending(now)
		if how == "" && !l.single && isNews {
			w.slim()
		}
		return how
	})
}

// keptBody is the number of body bytes that a group keeps of a response that did not end a wait. The outcome
// needs no more bytes of the last response.
const keptBody = 8 << 10

// slim drops the parts of the last observation that the outcome does not need. Emitted events keep these parts.
func (w *wait) slim() {
	o := *w.last.observation
	o.Header, o.Remarks, o.Pages, o.Within, o.Output = nil, nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	w.last.observation = &o
}

// endSome ends each target of a wait if ending returns an Ending for the target. The remaining targets continue.
func (l *loop) endSome(w *wait, ending func(*wait) Ending) {
	isEnd := func(w *wait) bool {
		how := ending(w)
		if how != "" {
			l.live--
			l.emitEnd(w, how)
		}
		return how != ""
	}
	if w.list != nil {
		w.list.waiting = slices.DeleteFunc(w.list.waiting, isEnd)
	} else if isEnd(w) {
		l.finish(w)
	}
}

// finish notes that all targets of a wait have ended.
func (l *loop) finish(w *wait) {
	w.over = true
	l.unfinished--
}

// maxFailures is how many failures of a group are named.
const maxFailures = 3

// emitEnd counts the end of a target or list, and emits the EventEnd.
func (l *loop) emitEnd(w *wait, how Ending) {
	o := w.outcome(how)
	o.Unfinished = w.isUnfinished()
	o.State = w.keptAtEnd(how, o)
	l.Endings[o.Ending]++
	if o.Ending != Succeeded {
		l.failed++
		if len(l.Failures) < maxFailures {
			l.Failures = append(l.Failures, o.Err())
		}
	}
	e := w.event(EventEnd, time.Now())
	e.Elapsed, e.Outcome, e.State = o.Elapsed, &o, o.State
	l.emit(e)
}

// prepareList adds a list with the wait lead. The known elements become targets.
func (l *loop) prepareList(lead *wait) {
	list := newList(lead, l.AtLeast)
	if !list.isCounted() && l.Percent > 0 {
		l.invalid = cmp.Or(l.invalid, errors.New("a Percent of a list needs its Known or Expect"))
	}
	if list.Known == nil {
		l.growing++
	}
	l.numberNew(list)
}

// numberNew numbers the new targets of a list, and updates the count of missing targets.
func (l *loop) numberNew(list *list) {
	missing := list.missing()
	l.missing += missing - list.countedMissing
	list.countedMissing = missing
	for _, w := range list.waiting {
		if w.n == 0 {
			l.number(w)
		}
	}
}

// concludeList emits the verdict of an attempt at a list. It ends each target that needs no further attempt, and
// the list itself once no target is left to wait for.
func (l *loop) concludeList(lead *wait) {
	list, now := lead.list, time.Now()
	asked := len(list.waiting)
	l.numberNew(list)
	how := lead.ending(now)
	l.emit(lead.event(EventAttempt, now))
	hopeless := how == Failed || how == HintTooLong
	if hopeless && list.lastComplete { // the response is complete: it ends the finished elements
		l.concludeTargets(lead)
	}
	if !list.lastComplete || hopeless {
		for _, w := range list.waiting {
			w.record(lead.last)
		}
	}
	if !hopeless {
		l.concludeTargets(lead)
	}
	switch {
	case !hopeless && list.checkComplete(lead.LastAttempt || how == TimedOut):
		l.endList(lead, "")
	case how != "":
		l.endList(lead, how)
	default:
		list.narrow(asked)
	}
}

// endList ends a list, and its remaining targets. how is "" if the list is complete. The end of the list itself
// is reported only if the list may have missed targets.
func (l *loop) endList(lead *wait, how Ending) {
	list := lead.list
	if how == Failed || how == CannotRun || how == HintTooLong || how != "" && how != Cancelled && list.mayHaveMore() {
		l.emitEnd(lead, how)
	}
	if maybe := list.reader.maybe; how == "" && maybe != "" && list.Whole && !list.isCounted() {
		l.Notes = append(l.Notes, maybe+", so the list may have a further page")
	}
	l.endSome(lead, func(*wait) Ending { return how })
	if list.Known == nil {
		l.growing--
	}
	l.finish(lead)
}

// endAll ends all targets of a wait.
func (l *loop) endAll(w *wait, how Ending) {
	if w.list != nil {
		l.endList(w, how)
		return
	}
	l.endSome(w, func(*wait) Ending { return how })
}

// decide ends the run if all targets have ended, or once the goal of the group was reached or is out of reach.
func (l *loop) decide() {
	switch have, need := l.Endings[Succeeded], l.needed(); {
	case l.unfinished == 0:
		l.cancel(errOver)
	case need > 0 && have >= need && (l.Percent <= 0 || l.missing == 0):
		l.cancel(errReached)
	case l.Attempts == 0 && l.growing == 0 && need > l.Targets+l.missing: // known before the first attempt
		l.cancel(errOutOfReach)
	case !l.FailFast:
	case need <= 0 && l.failed > 0, need > 0 && l.growing == 0 && have+l.live < need:
		l.cancel(errOutOfReach)
	}
}

// needed returns how many targets have to succeed, 0 for all.
func (l *loop) needed() int {
	if l.Percent <= 0 {
		return l.AtLeast
	}
	return int(math.Ceil(l.Percent*float64(l.Targets+l.missing)/100 - 1e-9)) // 4.4% of 750 are 33, and not 33.000000000000007
}

// goal returns the last event.
func (l *loop) goal() Event {
	now, s := time.Now(), l.Summary
	s.Elapsed, s.Ending = now.Sub(l.Start), Succeeded
	needsAll := l.needed() <= 0
	if s.Need = l.needed(); needsAll {
		s.Need = s.Targets + l.missing
	}
	isOpen := l.Percent > 0 && l.missing > 0 // a share of an unknown number
	if len(l.waits) == 0 || s.Endings[Succeeded] < s.Need || isOpen || needsAll && l.failed > 0 {
		s.Ending = gravest(s.Endings)
	}
	if s.Ending == Interrupted || s.Ending == TimedOut {
		s.Cause = context.Cause(l.caller)
	}
	return Event{Kind: EventGoal, At: now, Elapsed: s.Elapsed, Deadline: l.deadline, Summary: &s}
}

// gravest returns the ending of a group whose goal was not reached.
func gravest(endings map[Ending]int) Ending {
	for _, e := range [...]Ending{Interrupted, CannotRun, Failed, HintTooLong, AttemptsExhausted, TimedOut} {
		if endings[e] > 0 {
			return e
		}
	}
	return Failed
}
