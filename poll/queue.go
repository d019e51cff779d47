package poll

import (
	"cmp"
	"time"
)

// An agenda is a heap of sources by the time at which they wake (container/heap). Each source
// knows its place in it.
type agenda []*source

// asleep is the place of a source that is not in the agenda.
const asleep = -1

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].wake.Compare(a[j].wake), cmp.Compare(a[i].n, a[j].n)) < 0
}

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].at, a[j].at = i, j
}

// Push is for package heap.
func (a *agenda) Push(x any) {
	s := x.(*source)
	s.at = len(*a)
	*a = append(*a, s)
}

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	s := (*a)[last]
	(*a)[last] = nil
	*a, s.at = (*a)[:last], asleep
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
		if !next.ended() {
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
	steps   [steps]*semaphore
	members int       // sources whose next attempt goes there
	opens   time.Time // when it opens at the latest, as was told
}

// The steps of admission, in their order. At claim and turn something is asked.
const (
	claim  = iota // ask whether another process makes the attempt
	room          // one of so many attempts at the place
	turn          // the only one to ask the Limiter, and to wait until the request may go
	worker        // one of so many attempts at all places

	attempt // admitted
	steps   = attempt
)

// allLooks returns how long it takes to look once for each member, if one look takes so long and
// so many are made at once.
func (p *place) allLooks(took time.Duration, parallel int) time.Duration {
	if p.members < 2 {
		return 0
	}
	if most := p.steps[room].most; most > 0 {
		parallel = min(parallel, most)
	}
	return time.Duration(p.members) * took / time.Duration(parallel)
}
