package fleet

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/pace"
	"github.com/pollcli/poll/poll"
)

var _ poll.Limiter = (*Limiter)(nil)

// A Limiter is a [poll.Limiter] for all processes of a [Fleet]. It goes by the rules of a
// [poll.Pacer], but that nothing is believed for longer than an hour: neither that a place is
// closed, nor a slot. While the process is alone, its rate at a place is at most the one that
// it had there while it was not.
//
// A call takes half a second at most, and two seconds more at the beginning.
type Limiter struct {
	Fleet *Fleet
	// PerSecond and Known are as in a [poll.Pacer], for all processes together.
	PerSecond float64
	Known     bool
	// Key returns whose limit holds at a place: its name and the credentials that are sent
	// there, for example. Places with one text have one limit. Nil means the place's name.
	Key func(place string) string
	// Rand is the source of the jitter of closings. Nil means one seeded at random.
	Rand *rand.Rand

	mu     sync.Mutex
	clock  pace.Clock
	places map[string]*place
}

// A place is what this process knows of a place.
type place struct {
	key   string
	told  pace.Reply  // what the fleet said last, by this process's clock
	past  past        // what this process did there
	last  int64       // its newest slot
	alone *pace.State // how it goes on alone; nil once all share again
	most  float64     // the highest rate while it is
	back  int64       // since when it shares again, 0 while it does not
}

// reunion is how long a process keeps to its own pace once it shares again: others may
// still be alone, and a few of them must not take what all had.
const reunion = int64(mostPause / time.Microsecond)

// Versions of slots: ownSlot is set in those that were given out while alone, usedSlot in
// those that are used already; noSlot is that of a slot that never holds.
const (
	ownSlot  uint64 = 1 << 63
	usedSlot uint64 = 1 << 62
	noSlot   uint64 = 1<<64 - 1
)

// fresh is how long a slot that was free at once holds without being confirmed.
const fresh = 50 * time.Millisecond

// Reserve takes the next free slot at a place.
func (l *Limiter) Reserve(name string) poll.Slot {
	p, reply, alone := l.step(name, pace.Call{Op: pace.Reserve, N: 1})
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := poll.Slot{Place: name, At: l.clock.Time(reply.At), Version: uint64(reply.Version)}
	switch {
	case !reply.Holds:
		slot.Version = noSlot
		return slot
	case alone:
		slot.Version, slot.Alone = slot.Version|ownSlot, true
	}
	if reply.Used && reply.At <= reply.Now {
		slot.At, slot.Version = l.clock.Time(reply.Now), slot.Version|usedSlot
		p.past.add(reply.Now)
	}
	if reply.Closed != 0 {
		slot.ClosedUntil = l.clock.Time(reply.Closed)
	}
	p.last = max(p.last, reply.At)
	return slot
}

// Release gives back a slot that will not be used.
func (l *Limiter) Release(slot poll.Slot) {
	if slot.Version&usedSlot != 0 { // its time is over
		return
	}
	l.mu.Lock()
	ahead := l.clock.At(slot.At) - l.clock.Now()
	l.mu.Unlock()
	l.about(slot, pace.Call{Op: pace.Release, Span: ahead})
}

// Confirm reports whether a slot whose time has come still holds.
func (l *Limiter) Confirm(slot poll.Slot) bool {
	switch {
	case slot.Version == noSlot:
		return false
	case slot.Version&usedSlot != 0 && time.Since(slot.At) < fresh:
		return true
	}
	p, reply, _ := l.about(slot, pace.Call{Op: pace.Confirm})
	if reply.Holds {
		l.mu.Lock()
		defer l.mu.Unlock()
		p.past.add(reply.Now)
	}
	return reply.Holds
}

// Throttled cuts the rate of a place, and closes it for wait and up to a tenth more.
func (l *Limiter) Throttled(slot poll.Slot, wait time.Duration) poll.Place {
	l.mu.Lock()
	wait = min(max(0, wait), time.Hour)
	wait += time.Duration(l.random() * float64(wait) / 10)
	l.mu.Unlock()
	return l.tell(slot, pace.Call{Op: pace.Throttled, Span: pace.Span(wait)})
}

// Remaining spreads n attempts over the time until reset has passed. With none left, the
// place is closed until then.
func (l *Limiter) Remaining(slot poll.Slot, n int, reset time.Duration) poll.Place {
	return l.tell(slot, pace.Call{Op: pace.Remaining, Span: pace.Span(reset), N: int64(min(n, pace.Second))})
}

// Rate returns how many attempts a second a place allowed when something was last asked of
// it, 0 if there is no limit.
func (l *Limiter) Rate(name string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.at(name)
	switch {
	case p.alone != nil && p.back == 0:
		return p.alone.Step(l.rulesAlone(p), l.clock.Now(), pace.Call{Op: pace.Look}).Rate
	case p.told.Now == 0:
		if r := l.rules(p); r.Start > 0 {
			return r.Start
		}
		return l.rules(p).Most
	}
	return p.told.Rate
}

// about makes a call about a slot.
func (l *Limiter) about(slot poll.Slot, c pace.Call) (*place, pace.Reply, bool) {
	c.Version = int64(slot.Version &^ (ownSlot | usedSlot))
	if slot.Version&ownSlot != 0 {
		c.Version = -c.Version
	}
	return l.step(slot.Place, c)
}

// tell makes a call about what an attempt in a slot saw.
func (l *Limiter) tell(slot poll.Slot, c pace.Call) poll.Place {
	_, reply, _ := l.about(slot, c)
	place := poll.Place{Name: slot.Place, Rate: reply.Rate}
	if reply.Closed != 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		place.ClosedUntil = l.clock.Time(reply.Closed)
	}
	return place
}

// step takes a step at a place, alone if need be. The times of the reply are those of this
// process. The version of a slot of its own is negative in the call.
func (l *Limiter) step(name string, c pace.Call) (p *place, reply pace.Reply, alone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p = l.at(name)
	rules := l.rules(p)
	l.mu.Unlock()
	reply, shared := l.Fleet.step(p.key, rules, c)
	l.mu.Lock()
	now := l.clock.Now()
	if shared {
		ahead := now - reply.Now
		for _, t := range []*int64{&reply.At, &reply.Closed} {
			if *t != 0 {
				*t += ahead
			}
		}
		reply.Now = now
		p.told = reply
		if p.rejoin(now); p.alone != nil && c.Op == pace.Reserve {
			reply.At = max(reply.At, p.alone.Step(l.rulesAlone(p), now, c).At)
		}
		return p, reply, false
	}
	if p.alone == nil || p.back != 0 {
		l.part(p, now)
	}
	c.Version = max(c.Version, -c.Version)
	return p, p.alone.Step(l.rulesAlone(p), now, c), true
}

// part begins to be alone at a place: with the slots that this process has, and at the pace
// that it had.
func (l *Limiter) part(p *place, now int64) {
	p.alone, p.most, p.back = new(pace.State), 0, 0
	if p.told.Now == 0 { // it never was anything else
		return
	}
	*p.alone = pace.State{Now: now, Version: p.told.Version, Since: now, Closed: p.told.Closed, Last: p.last}
	p.most = p.past.rate(p.last)
}

// rejoin notes that the process shares again.
func (p *place) rejoin(now int64) {
	switch {
	case p.alone == nil:
	case p.back == 0:
		p.back = now
	case now-p.back > reunion:
		p.alone, p.back = nil, 0
	}
}

// rules are those by which this process goes at a place.
func (l *Limiter) rules(p *place) pace.Rules {
	r := pace.Shared(l.PerSecond, l.Known)
	if p.told.Now != 0 {
		r.Start = p.told.Rate
	}
	return r
}

// rulesAlone are those while it is alone.
func (l *Limiter) rulesAlone(p *place) pace.Rules {
	r := l.rules(p)
	for _, bound := range [...]float64{p.told.Rate, p.most} {
		if bound > 0 && (r.Most == 0 || bound < r.Most) {
			r.Most = bound
		}
	}
	return r
}

func (l *Limiter) at(name string) *place {
	if p := l.places[name]; p != nil {
		return p
	}
	text := name
	if l.Key != nil {
		text = l.Key(name)
	}
	if l.places == nil {
		l.places = map[string]*place{}
	}
	p := &place{key: l.Fleet.Key(text)}
	l.places[name] = p
	return p
}

func (l *Limiter) random() float64 {
	if l.Rand == nil {
		return rand.Float64()
	}
	return l.Rand.Float64()
}

// A past is what a process did at a place of late.
type past struct {
	times [64]int64 // a ring: when slots were used
	n     int
}

func (p *past) add(now int64) {
	p.times[p.n%len(p.times)] = now
	p.n++
}

// rate returns how many slots a second there were up to the newest one, which may still be
// ahead; 0 if there were none. What was done in less than a second is not taken for a pace.
func (p *past) rate(newest int64) float64 {
	kept := min(p.n, len(p.times))
	if kept == 0 {
		return 0
	}
	begun, last := p.times[(p.n-kept)%len(p.times)], p.times[(p.n-1)%len(p.times)]
	slots := kept - 1
	if newest > last {
		slots, last = kept, newest
	}
	return float64(max(slots, 1)) * pace.Second / float64(max(last-begun, pace.Second))
}
