package poll

import (
	"time"
)

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
