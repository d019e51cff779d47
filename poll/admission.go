package poll

import (
	"cmp"
	"container/heap"
	"fmt"
	"time"

	"github.com/pollcli/poll/words"
)

// An agenda is a heap of sources by the time at which they wake (container/heap). Each source
// knows its place in it.
type agenda []*source

// asleep is the place of a source that is not in the agenda.
const asleep = -1

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].wake.Compare(a[j].wake), cmp.Compare(a[i].order, a[j].order)) < 0
}

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].at, a[j].at = i, j
}

// Push is for package heap.
func (a *agenda) Push(x any) {
	s := x.(*source)
	s.at = len(*a)
	s.place.planned++
	*a = append(*a, s)
}

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	s := (*a)[last]
	(*a)[last] = nil
	*a, s.at = (*a)[:last], asleep
	s.place.planned--
	return s
}

// A semaphore lets so many sources through at once. The others stand in line.
type semaphore struct {
	most  int // 0 = no limit
	taken int
	line  []*source
}

// acquire lets s through, or puts it in line.
func (m *semaphore) acquire(s *source) bool {
	if m.most > 0 && m.taken >= m.most {
		m.line = append(m.line, s)
		return false
	}
	m.taken++
	return true
}

// release lets the next in line through, which it returns; nil if there is none.
func (m *semaphore) release() *source {
	for len(m.line) > 0 {
		next := m.line[0]
		m.line = m.line[1:]
		if !next.over {
			return next
		}
	}
	m.taken--
	return nil
}

// A place is what attempts put load on. Before an attempt begins, its source takes the steps of
// admission there.
type place struct {
	name    string
	limited bool // by the Limiter
	planned int  // how many sources in the agenda are of this place
	steps   [steps]*semaphore
	opens   time.Time // when it opens at the latest, as was told
}

// sleepUntilDue has a source sleep until it is due, and tells so. by is what holds back an attempt
// that was due already, "" if it was not.
func (l *loop) sleepUntilDue(s *source, by HeldBy, now time.Time) {
	e := s.event(EventWait, now)
	e.HeldBy = by
	l.emit(e)
	l.wakeAt(s, earliest(s.deadline, s.Due))
}

// placeOf returns the place that the next attempt of a source puts load on.
func (l *loop) placeOf(s *source) *place {
	name := ""
	if p, ok := s.probe.(placer); ok {
		name = p.Place()
	}
	if p := l.places[name]; p != nil {
		return p
	}
	p := &place{name: name, steps: [steps]*semaphore{&l.claims, {}, {most: 1}, &l.workers}}
	p.limited = name != "" && l.Limiter != nil
	if name != "" && l.ParallelPlace != nil {
		p.steps[room].most = l.ParallelPlace(name)
	}
	l.places[name] = p
	return p
}

// wakeAt has a source wake at a time; zero is never.
func (l *loop) wakeAt(s *source, at time.Time) {
	if s.at != asleep {
		heap.Remove(&l.agenda, s.at)
	}
	if s.wake = at; !at.IsZero() {
		heap.Push(&l.agenda, s)
	}
}

// admit has a source that is due take the next step before its attempt, unless the loop is to
// end.
func (l *loop) admit(s *source) {
	if l.over() {
		return
	}
	for s.step == claim && !s.shares() || s.step < worker && s.isTaken() || s.step == turn && !s.place.limited {
		s.step++
	}
	switch {
	case s.step == attempt:
		l.begin(s)
	case s.has[s.step] || s.place.steps[s.step].acquire(s):
		l.pass(s)
	default:
		l.wakeAt(s, s.deadline)
	}
}

// pass goes on with a source that has acquired the semaphore of its step.
func (l *loop) pass(s *source) {
	s.has[s.step] = true
	if s.step == claim || s.step == turn {
		l.do(s)
		return
	}
	s.step++
	l.admit(s)
}

// release gives a semaphore of a place that a source has acquired to the next in line.
func (l *loop) release(s *source, p *place, step int) {
	if !s.has[step] {
		return
	}
	s.has[step] = false
	if next := p.steps[step].release(); next != nil {
		l.pass(next)
	}
}

// closed tells that the place of a source has asked for a wait, and ends the targets for which it
// opens too late.
func (l *loop) closed(s *source, now time.Time) {
	p := s.place
	if s.Due.After(p.opens) {
		p.opens = s.Due.Add(clockSpread)
		l.emit(Event{Kind: EventPlace, At: now, Elapsed: now.Sub(l.Start), Deadline: l.deadline,
			Place: &Place{Name: p.name, ClosedUntil: s.Due, Reason: s.held}})
	}
	if s.deadline.IsZero() || s.Due.Before(s.deadline) {
		l.sleepUntilDue(s, HeldByGate, now)
		return
	}
	why := fmt.Sprintf("%s is closed for %s (%s)", p.name, words.Short(s.Due.Sub(now)), s.held)
	for _, w := range s.all() {
		w.closed = why
	}
	l.end(s)
}
