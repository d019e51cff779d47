package poll

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/pace"
)

// A Pacer is a [Limiter] in memory: it spaces the attempts of one process. What an idle
// place could have had is not saved up: its next slot is now, and the one after that comes
// when the rate allows it.
//
// A refusal cuts the rate to half of what was sent in the last second. It doubles from second
// to second up to half of what it was, and then grows by 3% a second.
//
// The zero value lets everything through until an attempt is refused.
type Pacer struct {
	// PerSecond is the highest rate at each place, in attempts a second. It is an upper
	// bound, below which refusals set the rate. 0 means none.
	PerSecond float64
	// Known says that PerSecond is what the places allow, and not a guess. The slots are
	// then spaced for 95% of it: a server counts attempts as they arrive, and some of them
	// arrive closer together than they were sent.
	Known bool
	// Rand is the source of all jitter. Nil means one seeded at random.
	Rand *rand.Rand

	mu     sync.Mutex
	clock  pace.Clock
	places map[string]*pace.State
}

// Reserve takes the next free slot at a place.
func (p *Pacer) Reserve(place string) Slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply := p.step(place, pace.Call{Op: pace.Reserve})
	slot := Slot{Place: place, At: p.clock.Time(reply.At), Version: uint64(reply.Version)}
	if reply.Closed != 0 {
		slot.ClosedUntil = p.clock.Time(reply.Closed)
	}
	return slot
}

// Release gives back a slot that will not be used.
func (p *Pacer) Release(slot Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ahead := p.clock.At(slot.At) - p.clock.Now()
	p.step(slot.Place, pace.Call{Op: pace.Release, Version: int64(slot.Version), Span: ahead})
}

// Confirm reports whether a slot whose time has come still holds.
func (p *Pacer) Confirm(slot Slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.step(slot.Place, pace.Call{Op: pace.Confirm, Version: int64(slot.Version)}).Holds
}

// Throttled cuts the rate of a place, and closes it for wait and up to a tenth more.
func (p *Pacer) Throttled(slot Slot, wait time.Duration) Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait > 0 {
		spread := time.Duration(p.random() * hintSpread * float64(wait))
		wait = backoff.Add(wait, spread)
	}
	return p.tell(slot, pace.Call{Op: pace.Throttled, Version: int64(slot.Version), Span: pace.Span(wait)})
}

// Remaining spreads n attempts over the time until reset has passed. With none left, the
// place is closed until then.
func (p *Pacer) Remaining(slot Slot, n int, reset time.Duration) Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tell(slot, pace.Call{Op: pace.Remaining, Span: pace.Span(reset), N: int64(n)})
}

// Rate returns how many attempts a second a place allows now, 0 if there is no limit.
func (p *Pacer) Rate(place string) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.step(place, pace.Call{Op: pace.Look}).Rate
}

// tell makes a call about what an attempt in a slot saw.
func (p *Pacer) tell(slot Slot, c pace.Call) Place {
	reply := p.step(slot.Place, c)
	place := Place{Name: slot.Place, Rate: reply.Rate}
	if reply.Closed != 0 {
		place.ClosedUntil = p.clock.Time(reply.Closed)
	}
	return place
}

func (p *Pacer) step(place string, c pace.Call) pace.Reply {
	s := p.places[place]
	if s == nil {
		if p.places == nil {
			p.places = map[string]*pace.State{}
		}
		s = new(pace.State)
		p.places[place] = s
	}
	rules := pace.Rules{Most: pace.Most(p.PerSecond, p.Known), Horizon: pace.Forever}
	return s.Step(rules, p.clock.Now(), c)
}

func (p *Pacer) random() float64 {
	if p.Rand == nil {
		return rand.Float64()
	}
	return p.Rand.Float64()
}
