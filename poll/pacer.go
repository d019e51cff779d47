package poll

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/backoff"
)

// A Pacer is a [Limiter] in memory: it spaces the attempts of one process. What an idle
// place could have had is not saved up: its next slot is now, and the one after that comes
// when the rate allows it.
//
// A refusal halves the rate, which then grows again: additive increase and multiplicative
// decrease, as in congestion control (RFC 5681), find an unknown limit and stay near it.
// Attempts that were sent before the cut can still be refused. Those refusals cut nothing.
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
	places map[string]*pacing
}

const (
	// knownShare is the share of a known rate that is used. A limit without any burst
	// refuses far less at 95% than at 99%.
	knownShare = 0.95
	// cutTo is the share that a refusal leaves of the rate, or of what was really sent a
	// second if that is less.
	cutTo = 0.5
	// growth is the share of a rate that is added to it in a second. It is not compounded
	// until the rate has doubled, in 33 seconds: near the limit, a steady growth meets it
	// less often and uses more of it than an exponential one, and after a deep cut, one
	// that never compounds would take hours.
	growth = 0.03
	// maxLate is how late an attempt begins, because of timers or of other work, without
	// moving the slots after it.
	maxLate = 100 * time.Millisecond
	// leastRate is an attempt a minute. No cut goes below it, so that a place that has
	// recovered is noticed.
	leastRate = 1.0 / 60
)

// Reserve takes the next free slot at a place.
func (p *Pacer) Reserve(place string) Slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.at(place)
	return Slot{Place: place, At: c.reserve(time.Now()), Version: c.version}
}

// Release gives back a slot that will not be used.
func (p *Pacer) Release(slot Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.at(slot.Place); slot.Version == c.version {
		c.release(slot.At)
	}
}

// Confirm reports whether a slot whose time has come still holds.
func (p *Pacer) Confirm(slot Slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.at(slot.Place)
	if slot.Version != c.version {
		return false
	}
	c.use(time.Now())
	return true
}

// Throttled cuts the rate of a place, and closes it for wait and up to a tenth more.
func (p *Pacer) Throttled(slot Slot, wait time.Duration) Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, now := p.at(slot.Place), time.Now()
	if slot.Version == c.version {
		c.cut(now)
	}
	if wait > 0 {
		spread := time.Duration(p.random() * hintSpread * float64(wait))
		c.close(now, now.Add(backoff.Add(wait, spread)))
	}
	return c.place(slot.Place, now)
}

// Remaining spreads n attempts over the time until reset has passed. With none left, the
// place is closed until then.
func (p *Pacer) Remaining(slot Slot, n int, reset time.Duration) Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, now := p.at(slot.Place), time.Now()
	if reset > 0 {
		c.pace, c.reset = float64(max(n, 0))/reset.Seconds(), now.Add(reset)
		if n <= 0 {
			c.close(now, c.reset)
		}
	}
	return c.place(slot.Place, now)
}

// Rate returns how many attempts a second a place allows now, 0 if there is no limit.
func (p *Pacer) Rate(place string) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(place).place(place, time.Now()).Rate
}

func (p *Pacer) at(place string) *pacing {
	if c := p.places[place]; c != nil {
		return c
	}
	most := p.PerSecond
	switch {
	case most <= 0:
		most = math.Inf(1)
	case p.Known:
		most *= knownShare
	}
	if p.places == nil {
		p.places = map[string]*pacing{}
	}
	c := &pacing{most: most, base: most}
	p.places[place] = c
	return c
}

func (p *Pacer) random() float64 {
	if p.Rand == nil {
		return rand.Float64()
	}
	return p.Rand.Float64()
}

// A pacing is what is known of one place. Rates are in attempts a second.
type pacing struct {
	version uint64    // of the slots that hold
	most    float64   // the highest rate
	base    float64   // the rate at since, from which it grows
	since   time.Time // when it was cut or, if it was closed then, opens
	closed  time.Time // until when
	pace    float64   // the highest rate until reset
	reset   time.Time

	last time.Time   // the newest slot
	free []time.Time // slots that were given back, in order
	sent window
}

func (c *pacing) reserve(now time.Time) time.Time {
	for len(c.free) > 0 {
		at := c.free[0]
		c.free = c.free[1:]
		if !at.Before(now) {
			return at
		}
	}
	next := c.next()
	if now.Sub(next) > maxLate { // it was idle
		next = now
	}
	c.last = latest(c.closed, next)
	return c.last
}

// next returns when the rate allows the slot after the newest one.
func (c *pacing) next() time.Time {
	if c.last.IsZero() {
		return c.last
	}
	paced := earliest(c.last.Add(interval(c.pace)), c.reset)
	return latest(paced, c.last.Add(interval(c.rate(c.last))))
}

// rate returns the rate at a moment, without regard to the pace. It never falls.
func (c *pacing) rate(at time.Time) float64 {
	seconds := max(0, at.Sub(c.since).Seconds())
	doubled, part := math.Modf(growth * seconds)
	return min(c.most, c.base*math.Exp2(doubled)*(1+part))
}

// use takes a slot at its time, or later.
func (c *pacing) use(now time.Time) {
	c.sent.add(now)
	c.last = latest(c.last, now.Add(-maxLate))
}

func (c *pacing) release(at time.Time) {
	i, _ := slices.BinarySearchFunc(c.free, at, time.Time.Compare)
	c.free = slices.Insert(c.free, i, at)
}

// cut lowers the rate.
func (c *pacing) cut(now time.Time) {
	rate := c.rate(now)
	if now.Sub(c.closed) >= time.Second { // if it has just opened, little was sent for that reason
		rate = min(rate, max(1, c.sent.perSecond(now))) // at least the attempt that was refused
	}
	c.base = max(cutTo*rate, leastRate)
	c.since = now
	c.void(now)
}

// close lets no attempt begin before until.
func (c *pacing) close(now, until time.Time) {
	if until.After(c.closed) {
		c.base, c.since, c.closed = c.rate(now), until, until
		c.void(now)
	}
}

// void makes all slots void that have not been confirmed.
func (c *pacing) void(now time.Time) {
	c.version++
	c.free = nil
	c.last = earliest(c.last, now)
}

// place returns what holds from now on or, if it is closed, from its opening on.
func (c *pacing) place(name string, now time.Time) Place {
	p := Place{Name: name}
	if c.closed.After(now) {
		p.ClosedUntil, now = c.closed, c.closed
	}
	rate := c.rate(now)
	if now.Before(c.reset) {
		rate = min(rate, c.pace)
	}
	if !math.IsInf(rate, 1) {
		p.Rate = rate
	}
	return p
}

// interval is the time between two slots.
func interval(rate float64) time.Duration {
	const most = math.MaxInt64 / 2 // further than any wait
	return time.Duration(min(float64(time.Second)/rate, most))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// A window counts the attempts of the last second: those of the second under way, and of
// the one before it the part that is not over a second ago, as if they had been even.
type window struct {
	begun        time.Time
	here, before float64
	isFirst      bool // there is no second before it
}

// shortWindow is the shortest time by which a rate is judged.
const shortWindow = 50 * time.Millisecond

func (w *window) add(now time.Time) {
	w.turn(now)
	w.here++
}

// perSecond returns the attempts of the last second. Those of a first second are counted
// as if it went on like that: ten in the first tenth of it are a hundred a second.
func (w *window) perSecond(now time.Time) float64 {
	w.turn(now)
	age := now.Sub(w.begun)
	if w.isFirst {
		return max(w.here, (w.here-1)/max(age, shortWindow).Seconds())
	}
	return w.here + w.before*(1-age.Seconds())
}

func (w *window) turn(now time.Time) {
	switch age := now.Sub(w.begun); {
	case age >= 2*time.Second:
		*w = window{begun: now, isFirst: true}
	case age >= time.Second:
		*w = window{begun: w.begun.Add(time.Second), before: w.here}
	}
}
