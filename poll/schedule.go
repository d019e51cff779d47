package poll

import (
	"cmp"
	"container/heap"
	"sync"
	"time"
)

// A schedule keeps the due times of the sources of a group. A source that is due lines up at its origin, and gets a
// goroutine for one attempt when its turn comes. So a source that sleeps costs no goroutine. The sources of an origin have
// their turns in the order of their due times.
type schedule struct {
	agenda agenda
	polled int            // how many sources are not over
	woken  chan struct{}  // has a value if the agenda has a new first entry
	turns  sync.WaitGroup // the goroutines of attempts
}

// A line is where sources that are due wait for their turn. The gate takes one source of a line at a time.
type line struct {
	sources []*source
	isBusy  bool // one source is in the gate
}

// drive waits for the targets of a group, and ends the targets that are left.
func (l *loop) drive() {
	l.openAll()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !l.isOver() {
		if wait, ok := l.lineUpDue(); ok {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-l.woken:
		case <-l.ctx.Done():
		}
	}
	l.endResting()
	l.turns.Wait()
}

// openAll opens all sources, and plans their first attempts.
func (l *loop) openAll() {
	defer l.lock()()
	for _, s := range l.sources {
		l.open(s)
	}
	for _, s := range l.sources {
		l.plan(s)
		if !s.over && !s.wait.deadline.Equal(l.deadline) {
			l.wakeAt(s, s.wait.deadline)
		}
	}
	l.decide()
}

// plan plans the next attempt of a source, unless all its targets have ended.
func (l *loop) plan(s *source) {
	s.isBusy = false
	if s.over || l.isOver() {
		l.rest(s)
		return
	}
	now, w := time.Now(), s.wait
	l.moveTo(s, l.placeOf(w))
	w.others = l.timeForOthers(s)
	s.plan(now)
	l.emitWait(w, "", now)
	l.wakeAt(s, w.Due)
}

// rest ends a source that makes no more attempts.
func (l *loop) rest(s *source) {
	l.end(s)
	l.moveTo(s, nil)
	s.wait = nil // of thousands that have ended nothing is kept
}

// endResting ends the sources that make no attempt.
func (l *loop) endResting() {
	defer l.lock()()
	for _, s := range l.sources {
		if !s.isBusy {
			l.rest(s)
		}
	}
}

// moveTo counts a source at the origin of its next attempt. A source that is over has no origin.
func (l *loop) moveTo(s *source, p *place) {
	if s.place != nil {
		s.place.sources--
		l.polled--
	}
	if s.place = p; p != nil {
		p.sources++
		l.polled++
	}
}

// timeForOthers returns the time that one attempt of each other source takes if all take as long as the attempts of s. All
// sources share the workers, and the sources of an origin share its room.
func (l *loop) timeForOthers(s *source) time.Duration {
	took := s.wait.median()
	others := time.Duration(l.polled-1) * took / time.Duration(l.Parallel)
	if s.place.most > 0 {
		others = max(others, time.Duration(s.place.sources-1)*took/time.Duration(s.place.most))
	}
	return others
}

// lineUpDue sends the sources that are due into their lines, and ends the sources whose deadline has come. It returns the
// time until the next appointment; ok is false without a further appointment.
func (l *loop) lineUpDue() (wait time.Duration, ok bool) {
	defer l.lock()()
	for len(l.agenda) > 0 && !l.isOver() {
		now := time.Now()
		if wait := l.agenda[0].at.Sub(now); wait > 0 {
			return wait, true
		}
		s := heap.Pop(&l.agenda).(appointment).source
		switch {
		case s.over || s.isBusy: // an attempt that is under way ends at the deadline by itself
		case s.wait.isDeadline(now):
			l.rest(s)
			l.decide()
		default:
			line := l.lineOf(s)
			if line.sources = append(line.sources, s); !line.isBusy {
				l.admit(line)
			}
		}
	}
	return 0, false
}

// lineOf returns the line of a source: the line of its origin, or its own line if the source has a limiter of its own. Other
// sources do not wait for such a limiter.
func (l *loop) lineOf(s *source) *line {
	if s.wait.p.Limiter != nil {
		return &s.own
	}
	return &s.place.line
}

// admit starts the turn of the first source in a line. The turn of the next source starts once the first source is
// through the gate.
func (l *loop) admit(line *line) {
	line.isBusy = false
	for len(line.sources) > 0 && !line.isBusy && !l.isOver() {
		s := line.sources[0]
		line.sources = line.sources[1:]
		if s.over { // at its deadline
			continue
		}
		line.isBusy, s.isBusy = true, true
		l.turns.Go(func() {
			defer l.next(s) // also if the probe ends its goroutine
			l.turn(s, func() { l.admit(line) })
		})
	}
}

// next plans the next attempt of a source after its turn.
func (l *loop) next(s *source) {
	defer l.lock()()
	l.plan(s)
	l.decide()
}

// An agenda is a heap of appointments (container/heap). Equal times have the order of their sources.
type agenda []appointment

// An appointment is the due time of a source, or its deadline.
type appointment struct {
	at     time.Time
	source *source
}

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].at.Compare(a[j].at), cmp.Compare(a[i].source.order, a[j].source.order)) < 0
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push adds an appointment at the end; package heap calls it.
func (a *agenda) Push(x any) { *a = append(*a, x.(appointment)) }

// Pop removes the last appointment; package heap calls it.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// wakeAt adds an appointment.
func (l *loop) wakeAt(s *source, at time.Time) {
	heap.Push(&l.agenda, appointment{at, s})
	if l.agenda[0].source != s {
		return
	}
	select {
	case l.woken <- struct{}{}:
	default:
	}
}
