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

// A score counts the targets of a group, and how they ended.
type score struct {
	Summary
	unfinished int // number of waits that are not over
	live       int // number of targets that have not ended
	failed     int // number of targets and lists that ended without success
	growing    int // number of lists that may add more targets
	missing    int // number of targets that must still appear before all lists have their expected sizes
}

// add adds w, the wait for a target or for a list, to the loop.
func (l *loop) add(w *wait) {
	if w.p.Elements != nil && !l.single {
		l.prepareList(w)
	} else {
		l.number(w)
	}
	w.Pause.restore(w.limiter)
	w.index = len(l.waits)
	l.waits = append(l.waits, w)
	l.unfinished++
}

// number counts w as a target. In a group, it also numbers w.
func (l *loop) number(w *wait) {
	l.live++
	if l.Targets++; !l.single {
		w.n = l.Targets
	}
}

// unrunnable returns an ending if the last attempt could not be made: CannotRun if the program cannot be run,
// and Failed if the start request must not be sent. It returns "" if the attempt was made.
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

// concludeTargets emits the EventAttempt of each target of w, and ends each target that needs no further
// attempt. An element of a list has an EventAttempt only if its conclusion has changed.
func (l *loop) concludeTargets(w *wait) {
	now := time.Now()
	l.endSome(w, func(w *wait) Ending {
		isNews := w.parent == nil || w.parent.list.isNews(w)
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

// keptBody is the number of bytes that a group keeps of the last response's body while a wait continues, to
// save memory. The outcome needs no more.
const keptBody = 8 << 10

// slim drops those parts of the last observation that the outcome does not need, to save memory. Emitted events
// have the full observation.
func (w *wait) slim() {
	o := *w.last.observation
	o.Header, o.Hints, o.Pages, o.Within, o.Output = nil, nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	w.last.observation = &o
}

// endSome calls the function ending for each target of w that has not ended. If the result is not "", the
// target ends with that result.
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

// finish records that all targets of w have ended.
func (l *loop) finish(w *wait) {
	w.hasEnded = true
	l.unfinished--
}

// maxFailures is the maximum number of errors in Summary.failures.
const maxFailures = 3

// emitEnd emits the EventEnd of w, which is a target or a list, and updates the score.
func (l *loop) emitEnd(w *wait, how Ending) {
	o := w.outcome(how)
	o.Unfinished = w.isUnfinished()
	o.State = w.keptAtEnd(how, o)
	l.Endings[o.Ending]++
	if o.Ending != Succeeded {
		l.failed++
		if len(l.failures) < maxFailures {
			l.failures = append(l.failures, o.Err())
		}
	}
	e := w.event(EventEnd, time.Now())
	e.Elapsed, e.Outcome, e.State = o.Elapsed, &o, o.State
	l.emit(e)
}

// prepareList creates the list of parent. The elements that are already known become targets.
func (l *loop) prepareList(parent *wait) {
	list := newList(parent, l.AtLeast)
	if !list.isCounted() && l.Percent > 0 {
		l.invalid = cmp.Or(l.invalid, errors.New("a Percent of a list needs Known or Expect"))
	}
	if list.Known == nil {
		l.growing++
	}
	l.numberNew(list)
}

// numberNew numbers the new targets of list, and updates the number of missing targets, which the list is
// expected to contain but has not contained so far.
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

// concludeList handles the verdict on a list's response. It emits the EventAttempt of the list, and ends each
// element that needs no further attempt. It ends the list itself if no further element is expected, or if a
// limit ends it.
func (l *loop) concludeList(parent *wait) {
	list, now := parent.list, time.Now()
	asked := len(list.waiting)
	l.numberNew(list)
	how := parent.ending(now)
	l.emit(parent.event(EventAttempt, now))
	hopeless := how == Failed || how == ThrottledTooLong
	if hopeless && list.lastComplete { // the response is complete, so elements that it shows as finished end with their own verdict
		l.concludeTargets(parent)
	}
	if !list.lastComplete || hopeless {
		for _, w := range list.waiting {
			w.record(parent.last)
		}
	}
	if !hopeless {
		l.concludeTargets(parent)
	}
	switch {
	case !hopeless && list.checkComplete(parent.LastAttempt || how == TimedOut):
		l.endList(parent, "")
	case how != "":
		l.endList(parent, how)
	default:
		list.narrow(asked)
	}
}

// endList ends a list and its remaining elements. how is the ending, or "" if the list is complete. The list
// itself gets an EventEnd only if targets may be missing.
func (l *loop) endList(parent *wait, how Ending) {
	list := parent.list
	if how == Failed || how == CannotRun || how == ThrottledTooLong || how != "" && how != Cancelled && list.mayHaveMore() {
		l.emitEnd(parent, how)
	}
	if maybe := list.reader.maybe; how == "" && maybe != "" && list.Whole && !list.isCounted() {
		l.Hints = append(l.Hints, status.Hint{Text: maybe + ", so the list may have a further page"})
	}
	l.endSome(parent, func(*wait) Ending { return how })
	if list.Known == nil {
		l.growing--
	}
	l.finish(parent)
}

// endAll ends w and all its targets. how is the ending.
func (l *loop) endAll(w *wait, how Ending) {
	if w.list != nil {
		l.endList(w, how)
		return
	}
	l.endSome(w, func(*wait) Ending { return how })
}

// decide ends the run if all targets have ended, if the group has reached its goal, or if there are fewer
// targets than must succeed. With FailFast, it also ends the run when the goal can no longer be reached.
func (l *loop) decide() {
	switch have, need := l.Endings[Succeeded], l.needed(); {
	case l.unfinished == 0:
		l.cancel(errOver)
	case need > 0 && have >= need && (l.Percent <= 0 || l.missing == 0):
		l.cancel(errReached)
	case l.Attempts == 0 && l.growing == 0 && need > l.Targets+l.missing: // too few targets: known before the first attempt
		l.cancel(errOutOfReach)
	case !l.FailFast:
	case need <= 0 && l.failed > 0, need > 0 && l.growing == 0 && have+l.live < need:
		l.cancel(errOutOfReach)
	}
}

// needed returns the number of targets that must succeed; 0 means all of them. For a Percent, the result is at
// least 1 unless there are no targets.
func (l *loop) needed() int {
	if l.Percent <= 0 {
		return l.AtLeast
	}
	all := l.Targets + l.missing
	share := int(math.Ceil(l.Percent*float64(all)/100 - 1e-9)) // subtract rounding errors: 4.4% of 750 is 33, not 33.000000000000007
	return min(all, max(1, share))
}

// goal returns the EventGoal, the last event of a group.
func (l *loop) goal() Event {
	now, s := time.Now(), l.Summary
	s.Elapsed, s.Ending = now.Sub(l.Start), Succeeded
	needsAll := l.needed() <= 0
	if s.Need = l.needed(); needsAll {
		s.Need = s.Targets + l.missing
	}
	isOpen := l.Percent > 0 && l.missing > 0 // a percentage of a number of targets that is still unknown
	if len(l.waits) == 0 || s.Endings[Succeeded] < s.Need || isOpen || needsAll && l.failed > 0 {
		s.Ending = gravest(s.Endings)
	}
	if s.Ending == Interrupted || s.Ending == TimedOut {
		s.Cause = context.Cause(l.caller)
	}
	return Event{Kind: EventGoal, At: now, Elapsed: s.Elapsed, Deadline: l.deadline, Summary: &s}
}

// gravest returns the ending of a group that did not reach its goal: the most serious ending of any target or
// list, or Failed if there is none.
func gravest(endings map[Ending]int) Ending {
	for _, e := range [...]Ending{Interrupted, CannotRun, Failed, ThrottledTooLong, AttemptsExhausted, TimedOut} {
		if endings[e] > 0 {
			return e
		}
	}
	return Failed
}
