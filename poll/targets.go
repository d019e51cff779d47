package poll

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// add adds the source of a wait.
func (l *loop) add(w *wait) *source {
	limiter := w.p.Limiter
	if limiter == nil {
		limiter = l.Limiter
	}
	w.Limit.restore(limiter)
	s := &source{wait: w, list: w.list, limiter: limiter, order: len(l.sources)}
	l.sources = append(l.sources, s)
	return s
}

// number makes w a target, and sets its number.
func (l *loop) number(w *wait) {
	l.live++
	if l.Targets++; !l.single {
		w.n = l.Targets
	}
}

// concludeWaits emits the verdict of an attempt, and ends each target that needs no further attempt.
func (l *loop) concludeWaits(s *source) {
	now := time.Now()
	l.endSome(s, func(w *wait) Ending {
		how := w.unrunnable()
		if how != "" {
			w.Attempts--
			return how
		}
		isNews := s.list == nil || s.list.isNews(w)
		if isNews {
			e := w.event(EventAttempt, now)
			e.ofStart = w.Sent == w.Attempts && w.Sent > 0
			l.emit(e)
		}
		if how = w.ending(now); how == "" && !l.single && isNews {
			w.slim()
		}
		return how
	})
}

// endSome ends each target of a source for which ending returns an Ending. The remaining targets continue.
func (l *loop) endSome(s *source, ending func(*wait) Ending) {
	isEnd := func(w *wait) bool {
		how := ending(w)
		if how != "" {
			l.live--
			l.tellEnd(w, how)
		}
		return how != ""
	}
	if s.list == nil {
		s.over = isEnd(s.wait)
		return
	}
	s.list.waiting = slices.DeleteFunc(s.list.waiting, isEnd)
}

// maxFailures is how many failures of a group are named.
const maxFailures = 3

// tellEnd counts the end of a target or list, and emits the EventEnd.
func (l *loop) tellEnd(w *wait, how Ending) {
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

// addList adds the source of a list. The lead sets the schedule of the source.
func (l *loop) addList(lead *wait) {
	list := &list{Elements: *lead.p.Elements, lead: lead, members: make(map[string]*element)}
	list.reader = listReader{each: list.Each, keys: list.Keys, wants: list.wants}
	keys, listed := list.Known, lead.Listed
	if keys == nil {
		if l.Percent > 0 && list.Expect <= 0 {
			l.invalid = cmp.Or(l.invalid, errors.New("a Percent of a list needs its Known or Expect"))
		}
		keys = slices.Sorted(maps.Keys(list.Past))
		list.least = max(list.Expect, l.AtLeast, 0)
		l.growing++
	}
	for _, key := range keys {
		if list.members[key] == nil { // a key may be named twice
			list.join(key)
		}
	}
	if list.Known != nil {
		list.least = len(list.members)
	}
	if list.Known == nil && list.Expect <= 0 {
		lead.Listed = list.listedBefore(listed)
	}
	list.asked = len(list.waiting)
	l.numberNew(list)
	lead.classify, lead.list = list.classify, list
	l.add(lead)
	l.lists++
}

// openList starts a list. It ends the list at once if earlier runs ended all known elements.
func (l *loop) openList(s *source) {
	if s.list.narrow(); len(s.list.waiting) == 0 && s.list.Known != nil {
		l.endList(s, "")
	}
}

// numberNew gives numbers to the new targets of a list, and updates the count of missing targets.
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
func (l *loop) concludeList(s *source) {
	list, lead, now := s.list, s.wait, time.Now()
	if how := lead.unrunnable(); how != "" {
		lead.Attempts--
		l.endList(s, how)
		return
	}
	l.numberNew(list)
	how := lead.ending(now)
	l.emit(lead.event(EventAttempt, now))
	hopeless := how == Failed || how == HintTooLong
	if hopeless && list.lastComplete { // the response is complete: its finished elements end by it
		l.concludeWaits(s)
	}
	if !list.lastComplete || hopeless {
		for _, w := range list.waiting {
			w.record(lead.last)
		}
	}
	if !hopeless {
		l.concludeWaits(s)
	}
	switch {
	case !hopeless && list.checkComplete(lead.LastLook || how == TimedOut):
		l.endList(s, "")
	case how != "":
		l.endList(s, how)
	default:
		list.narrow()
	}
}

// endList ends a list, and its remaining targets. how is "" if the list is complete. The end of the list itself
// is reported only if the list may have missed targets.
func (l *loop) endList(s *source, how Ending) {
	list := s.list
	if how == Failed || how == CannotRun || how == HintTooLong || how != "" && how != Cancelled && list.mayHaveMore() {
		l.tellEnd(list.lead, how)
	}
	if maybe := list.reader.maybe; how == "" && maybe != "" && list.Whole && !list.isCounted() {
		l.Notes = append(l.Notes, maybe+", so the list may have a further page")
	}
	l.endSome(s, func(*wait) Ending { return how })
	s.over = true
	l.lists--
	if list.Known == nil {
		l.growing--
	}
}

// endAll ends all targets of a source.
func (l *loop) endAll(s *source, how Ending) {
	if s.list != nil {
		l.endList(s, how)
		return
	}
	l.endSome(s, func(*wait) Ending { return how })
}
