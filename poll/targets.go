package poll

import (
	"slices"
	"time"
)

// add adds the source of a wait.
func (l *loop) add(w *wait) *source {
	limiter := w.p.Limiter
	if limiter == nil {
		limiter = l.Limiter
	}
	s := &source{wait: w, limiter: limiter, order: len(l.sources), agendaIndex: notInAgenda}
	l.sources = append(l.sources, s)
	return s
}

// number makes a wait a target.
func (l *loop) number(w *wait) {
	l.live++
	if l.Targets++; !l.single {
		w.n = l.Targets
	}
}

// countShared counts an attempt that another process has made, or should have shared.
func (l *loop) countShared(s *source) {
	taken, unshared := s.sharing.closeTurn()
	l.Taken += taken
	l.Unshared += unshared
	for _, w := range s.all() {
		w.Taken += taken
		w.Unshared += unshared
	}
}

// concludeWaits reports the verdict of an attempt, and ends the targets for which it was the last.
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
		if how = w.ending(); how == "" && !l.single && isNews {
			w.slim()
		}
		return how
	})
}

// endSome ends the targets of a source that have an ending. The others go on.
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

// mostFailures is how many failures of a group are named.
const mostFailures = 3

// tellEnd counts and tells an end.
func (l *loop) tellEnd(w *wait, how Ending) {
	o := w.outcome(how)
	o.State = w.keptAtEnd(how, o)
	l.Endings[o.Ending]++
	if o.Ending != Succeeded {
		l.failed++
		if len(l.Failures) < mostFailures {
			l.Failures = append(l.Failures, o.Err())
		}
	}
	e := w.event(EventEnd, time.Now())
	e.Elapsed, e.Outcome, e.State = o.Elapsed, &o, o.State
	l.emit(e)
}

// emit hands an event to the consumer until that breaks off.
func (l *loop) emit(e Event) {
	if !l.brokenOff {
		l.brokenOff = !l.yield(e)
	}
}
