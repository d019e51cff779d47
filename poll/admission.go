package poll

import (
	"cmp"
	"container/heap"
	"time"
)

// An agenda is a heap of sources by the time at which they wake (container/heap). Each source
// knows its index in it.
type agenda []*source

// notInAgenda is the index of a source that is not in the agenda: it is due, in line, busy or over.
const notInAgenda = -1

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].wake.Compare(a[j].wake), cmp.Compare(a[i].order, a[j].order)) < 0
}

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].agendaIndex, a[j].agendaIndex = i, j
}

// Push is for package heap.
func (a *agenda) Push(x any) {
	s := x.(*source)
	s.agendaIndex = len(*a)
	s.place.planned++
	*a = append(*a, s)
}

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	s := (*a)[last]
	(*a)[last] = nil
	*a, s.agendaIndex = (*a)[:last], notInAgenda
	s.place.planned--
	return s
}

// wakeAt has a source wake at a time; zero is never.
func (a *agenda) wakeAt(s *source, at time.Time) {
	if s.agendaIndex != notInAgenda {
		heap.Remove(a, s.agendaIndex)
	}
	if s.wake = at; !at.IsZero() {
		heap.Push(a, s)
	}
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
	planned int // how many sources in the agenda are of this place
	steps   [stepCount]*semaphore
	opens   time.Time // the latest time of opening that was reported
}

// placeOf returns the place that the next attempt of a source puts load on.
func (l *loop) placeOf(s *source) *place {
	name := ""
	if p, ok := as[Placer](s.probe); ok {
		name = p.Place()
	}
	if p := l.places[name]; p != nil {
		return p
	}
	p := &place{name: name, steps: [stepCount]*semaphore{&l.claims, {}, {most: 1}, &l.workers}}
	if name != "" && l.ParallelPlace != nil {
		p.steps[stepRoom].most = l.ParallelPlace(name)
	}
	l.places[name] = p
	return p
}

// A passage is what comes of a step of admission.
type passage int

const (
	inLine   passage = iota // the semaphore of the step has to be released by another
	asking                  // the question of the step is to be asked
	admitted                // the attempt is to begin
)

// advance has a source that is due take its steps before the attempt, until it has to wait for one,
// or to ask.
func (s *source) advance() passage {
	for {
		for s.step == stepClaim && !s.shares() || s.step < stepWorker && s.isTaken() || s.step == stepTurn && !s.isLimited() {
			s.step++
		}
		if s.step == stepAttempt {
			return admitted
		}
		hasOwnTurn := s.step == stepTurn && s.p.Limiter != nil // which others do not wait for
		if !hasOwnTurn && !s.acquired[s.step] {
			if !s.place.steps[s.step].acquire(s) {
				return inLine
			}
			s.acquired[s.step] = true
		}
		if s.step == stepClaim || s.step == stepTurn {
			return asking
		}
		s.step++
	}
}

// release gives a semaphore of a place that a source has acquired to the next in line, which it
// returns; nil if there is none.
func (p *place) release(s *source, step int) (next *source) {
	if !s.acquired[step] {
		return nil
	}
	s.acquired[step] = false
	if next = p.steps[step].release(); next != nil {
		next.acquired[step] = true
	}
	return next
}
