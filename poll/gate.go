package poll

import (
	"slices"
	"time"
)

// A gate stands before a place: it holds back the attempts that are due until the place
// has room for them. The earliest due goes first.
type gate struct {
	name     string
	members  int            // sources whose next attempt goes there
	most     int            // attempts at once, 0 = no limit
	running  []*source      // whose attempts are under way, in the order in which they began
	usual    time.Duration  // about the longest that attempts there take
	ready    queue[*source] // due, and held back
	wake     time.Time      // when there may be room, or a slot
	slot     Slot           // of the next attempt
	reserved bool           // slot was reserved, and is not used
	holds    bool           // slot was confirmed
	asking   bool           // the limiter is asked about it
	told     Place          // what was told of it last
	open     int            // its place in the queue of gates that let an attempt through
	paced    int            // its place in the queue of gates that wait for a time
}

// byDue is a queue of sources, the earliest due first.
func byDue() queue[*source] {
	return queue[*source]{
		before: func(a, b *source) bool { return a.due.Before(b.due) || a.due.Equal(b.due) && a.n < b.n },
		place:  func(s *source) *int { return &s.waiting },
	}
}

// leastLong is how long an attempt takes at least that may hang.
const leastLong = 2 * time.Second

// isFull reports whether no further attempt may begin now, and sets wake if time alone will
// change that. An attempt that takes far longer than usual may hang, and leaves its room to
// another; so many more than most may be under way, at most as many again.
func (g *gate) isFull(now time.Time) bool {
	more := len(g.running) - g.most
	if g.most == 0 || more < 0 {
		return false
	}
	if g.wake = (time.Time{}); more < g.most {
		g.wake = g.running[more].begun.Add(max(leastLong, 4*g.usual))
		return now.Before(g.wake)
	}
	return true
}

// begin notes that an attempt of s begins.
func (g *gate) begin(s *source, now time.Time) {
	s.begun = now
	g.running = append(g.running, s)
}

// end notes that the attempt of s has ended.
func (g *gate) end(s *source) {
	g.running = slices.DeleteFunc(g.running, func(other *source) bool { return other == s })
	g.usual = max(s.runs[0].took.median(), g.usual-g.usual/8)
}

// A gatekeeper knows the gates of a group, and which of them lets the next attempt
// through: that with the earliest due among those that are open.
type gatekeeper struct {
	limiter Limiter                // nil for none
	local   bool                   // it is not asked elsewhere, so that it can be asked at once
	calls   []task                 // to the limiter, that are to be made
	most    func(place string) int // nil for no limit
	gates   map[string]*gate
	open    queue[*gate] // by the due time of the first that they hold
	paced   queue[*gate] // by when they wake
}

func newGatekeeper(limiter Limiter, most func(place string) int) *gatekeeper {
	_, local := limiter.(*Pacer)
	return &gatekeeper{
		limiter: limiter,
		local:   local,
		most:    most,
		gates:   make(map[string]*gate),
		open: queue[*gate]{
			before: func(a, b *gate) bool { return a.ready.before(a.ready.items[0], b.ready.items[0]) },
			place:  func(g *gate) *int { return &g.open },
		},
		paced: queue[*gate]{
			before: func(a, b *gate) bool { return a.wake.Before(b.wake) },
			place:  func(g *gate) *int { return &g.paced },
		},
	}
}

// assign makes s a member of the gate that its next attempt passes.
func (k *gatekeeper) assign(s *source) {
	var name string
	if p, ok := s.runs[0].probe.(Placer); ok {
		name = p.Place()
	}
	if s.gate != nil && s.gate.name == name {
		return
	}
	k.leave(s)
	g := k.gates[name]
	if g == nil {
		g = &gate{name: name, ready: byDue()}
		if k.most != nil && name != "" {
			g.most = k.most(name)
		}
		k.gates[name] = g
	}
	g.members++
	s.gate = g
}

// leave takes s out of its gate.
func (k *gatekeeper) leave(s *source) {
	if s.gate == nil {
		return
	}
	s.gate.members--
	s.gate = nil
}

// crowd returns how long the last looks of all members of a gate take, if one takes so
// long and so many are made at once.
func (k *gatekeeper) crowd(g *gate, took time.Duration, parallel int) time.Duration {
	if g.members < 2 {
		return 0
	}
	if g.most > 0 {
		parallel = min(parallel, g.most)
	}
	each := took / time.Duration(parallel)
	if k.limiter != nil && g.name != "" {
		if rate := k.limiter.Rate(g.name); rate > 0 {
			each = max(each, time.Duration(float64(time.Second)/rate))
		}
	}
	return time.Duration(g.members) * each
}

// update puts g where it belongs after something has changed.
func (k *gatekeeper) update(g *gate, now time.Time) {
	switch {
	case g.asking:
	case g.ready.Len() == 0 || g.isFull(now):
		k.open.remove(g)
		k.paced.remove(g)
		k.release(g)
		if g.ready.Len() > 0 && g.wake.After(now) {
			k.paced.put(g)
		}
	case k.limits(g) && !g.reserved:
		k.open.remove(g)
		k.paced.remove(g)
		k.ask(g, now, func() { g.slot, g.reserved = k.limiter.Reserve(g.name), true })
	case g.reserved && g.slot.At.After(now):
		k.open.remove(g)
		g.wake = g.slot.At
		k.paced.put(g)
	default:
		k.paced.remove(g)
		k.open.put(g)
	}
}

// limits reports whether the attempts that pass g are spaced.
func (k *gatekeeper) limits(g *gate) bool { return k.limiter != nil && g.name != "" }

// ask asks the limiter about g, which belongs to the question until it is answered.
func (k *gatekeeper) ask(g *gate, now time.Time, question func()) {
	if k.local {
		question()
		k.update(g, now)
		return
	}
	g.asking = true
	k.calls = append(k.calls, task{gate: g, do: question})
}

// answered notes that the limiter has answered about g.
func (k *gatekeeper) answered(g *gate, now time.Time) {
	g.asking = false
	k.update(g, now)
}

// release gives back the slot that g has, and does not use now.
func (k *gatekeeper) release(g *gate) {
	if !g.reserved {
		return
	}
	slot := g.slot
	g.reserved, g.holds = false, false
	if k.local {
		k.limiter.Release(slot)
	} else {
		k.calls = append(k.calls, task{do: func() { k.limiter.Release(slot) }})
	}
}

// next returns the source whose attempt may begin now, nil if there is none.
func (k *gatekeeper) next(now time.Time) *source {
	for {
		g, ok := k.paced.first()
		if !ok || g.wake.After(now) {
			break
		}
		k.update(g, now)
	}
	for {
		g, ok := k.open.first()
		if !ok {
			return nil
		}
		if g.reserved && !g.holds {
			k.open.remove(g)
			k.ask(g, now, func() {
				g.holds = k.limiter.Confirm(g.slot)
				g.reserved = g.holds
			})
			continue
		}
		s, _ := g.ready.first()
		s.slot, g.reserved, g.holds = g.slot, false, false
		g.ready.remove(s)
		g.begin(s, now)
		k.update(g, now)
		return s
	}
}

// wake returns when the next gate wakes, unless none waits for a time.
func (k *gatekeeper) wake() (time.Time, bool) {
	g, ok := k.paced.first()
	if !ok {
		return time.Time{}, false
	}
	return g.wake, true
}
