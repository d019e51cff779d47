// Package pace spaces attempts at one place: what is known of the place is a small record,
// and each call that a limiter gets is a step from one record to the next. The steps take
// the time as an argument and keep nothing else, so that a record may be in memory, in a
// file, or where the steps are taken in another language.
//
// A refusal halves the rate, which then grows again: additive increase and multiplicative
// decrease, as in congestion control (RFC 5681), find an unknown limit and stay near it. Where
// far less was sent than the rate allowed, half of what was sent is where it begins, and it
// doubles from second to second, as in a slow start, up to half of what it was.
// Attempts that were sent before the cut can still be refused. Those refusals cut nothing.
//
// Times are in microseconds since some beginning, 0 for none, rates in attempts a second,
// 0 for no limit.
package pace

import "math"

const (
	// Second is a second in microseconds.
	Second = 1_000_000
	// Forever is longer than any wait, and exact as a floating-point number.
	Forever = 1 << 52

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
	maxLate = Second / 10
	// leastRate is an attempt a minute. No cut goes below it, so that a place that has
	// recovered is noticed.
	leastRate = 1.0 / 60
	// mostRate is as good as no limit.
	mostRate = 1e9
	// shortWindow is the shortest time, in seconds, by which a rate is judged.
	shortWindow = 0.05
)

// maxFree is how many slots are kept that were given back. Each process that waits for a
// place has one slot at most; of more, the latest are lost.
const maxFree = 8

// A State is what is known of a place. The zero value is a place of which nothing is known.
type State struct {
	Now     int64 // when the last step was taken
	Version int64 // of the slots that hold: when the place was last closed, or its rate cut

	Base   float64 // the rate at Since, from which it grows
	Knee   float64 // up to which it doubles, 0 for none
	Since  int64   // when it was cut or, if it was closed then, opens
	Closed int64   // until when
	Pace   float64 // the highest rate until Reset, 0 for none before then
	Reset  int64

	Last int64          // the newest slot
	Free [maxFree]int64 // slots that were given back, in order

	// The attempts of the second since Begun, and those of the second before it.
	Begun        int64
	Here, Before float64
	First        bool // there is no second before it
}

// Rules are what a process that shares a place goes by.
type Rules struct {
	// Most is the highest rate.
	Most float64
	// Start is the rate to begin with at a place of which nothing is known.
	Start float64
	// Horizon is how far ahead anything is believed.
	Horizon int64
}

const (
	// SharedHorizon is how far ahead anything is believed that others may have written.
	SharedHorizon = 3600 * Second
	// startShare is the share of a rate that is not known with which it begins.
	startShare = 0.25
)

// Shared returns the rules of processes that share places which allow perSecond, or about
// so many.
func Shared(perSecond float64, known bool) Rules {
	r := Rules{Most: Most(perSecond, known), Horizon: SharedHorizon}
	if !known {
		r.Start = startShare * r.Most
	}
	return r
}

// An Op is what a [Call] asks for.
type Op uint8

// The calls of a limiter.
const (
	Look Op = iota // what holds now
	Reserve
	Release
	Confirm
	Throttled
	Remaining
)

// A Call is one call of a limiter.
type Call struct {
	Op      Op
	Version int64 // of the slot that it is about
	// Span is how far ahead the slot is (Release), for how long the place is closed
	// (Throttled), or when it allows more (Remaining).
	Span int64
	// N is how many attempts remain (Remaining); more than 0, that a slot which is not ahead
	// is used at once (Reserve).
	N int64
}

// A Reply is what a limiter says to a [Call].
type Reply struct {
	Now     int64
	Version int64
	Holds   bool    // a slot was reserved, or is confirmed
	Used    bool    // the slot that was reserved is used, and needs not be confirmed
	At      int64   // the slot (Reserve)
	Closed  int64   // until when the place is closed, 0 if it is open
	Rate    float64 // from now on or, if it is closed, from its opening on
}

// Step makes a call at a time.
func (s *State) Step(r Rules, now int64, c Call) Reply {
	s.settle(r, now)
	reply := Reply{Now: now}
	current := c.Version == s.Version
	switch c.Op {
	case Reserve:
		reply.At, reply.Holds = s.reserve(r, now)
		if reply.Holds && reply.At <= now && c.N > 0 {
			s.use(now)
			reply.Used = true
		}
	case Release:
		if current {
			s.release(now + c.Span)
		}
	case Confirm:
		if current {
			s.use(now)
			reply.Holds = true
		}
	case Throttled:
		if current {
			s.cut(r, now)
		}
		if c.Span > 0 {
			s.close(r, now, now+min(c.Span, r.Horizon))
		}
	case Remaining:
		if c.Span > 0 {
			s.remain(r, now, c)
		}
	}
	reply.Version = s.Version
	reply.Closed, reply.Rate = s.outlook(r, now)
	return reply
}

// settle makes a state one that can hold at a time: a clock may have been set back, and
// what is written somewhere may have been written by anyone.
func (s *State) settle(r Rules, now int64) {
	if s.Now == 0 {
		*s = State{Version: now, Base: r.Start, Since: now}
	}
	times := [...]*int64{&s.Since, &s.Closed, &s.Reset, &s.Last, &s.Begun}
	if back := s.Now - now; back > 0 {
		for _, t := range times {
			*t = max(0, *t-back)
		}
		s.Free = [maxFree]int64{}
	}
	for _, t := range times {
		*t = min(*t, now+r.Horizon)
	}
	s.Begun = min(s.Begun, now)
	s.Version = min(s.Version, now+r.Horizon)
	if s.Base != 0 {
		s.Base = min(max(s.Base, leastRate), mostRate)
	}
	s.Here, s.Knee = min(s.Here, mostRate), min(s.Knee, mostRate)
	s.Now = now
}

func (s *State) reserve(r Rules, now int64) (at int64, holds bool) {
	for s.Free[0] != 0 {
		at := s.Free[0]
		copy(s.Free[:], s.Free[1:])
		s.Free[maxFree-1] = 0
		if at >= now {
			return at, true
		}
	}
	next := s.next(r)
	if now-next > maxLate { // it was idle
		next = now
	}
	at = max(s.Closed, next)
	if at > now+r.Horizon {
		return now + r.Horizon, false
	}
	s.Last = at
	return at, true
}

// next returns when the rate allows the slot after the newest one.
func (s *State) next(r Rules) int64 {
	if s.Last == 0 {
		return 0
	}
	paced := s.Reset
	if s.Pace > 0 {
		paced = min(s.Last+gap(s.Pace), s.Reset)
	}
	return max(paced, s.Last+gap(s.rate(r, s.Last)))
}

// gap is the time between two slots.
func gap(rate float64) int64 {
	if rate == 0 {
		return 0
	}
	return int64(math.Ceil(min(Second/rate, Forever)))
}

// rate returns the rate at a time, without regard to the pace. It never falls.
func (s *State) rate(r Rules, at int64) float64 {
	if s.Base == 0 {
		return r.Most
	}
	base, age := s.Base, float64(max(0, at-s.Since))
	for base < s.Knee && age > 0 {
		window := max(Second, Second/base) // in which there is an attempt
		if age >= window {
			base = min(2*base, s.Knee)
		}
		age = max(0, age-window)
	}
	grown := growth * age / Second
	doubled := math.Floor(grown)
	rate := base * math.Exp2(doubled) * (1 + (grown - doubled))
	switch {
	case r.Most > 0:
		return min(rate, r.Most)
	case rate > mostRate:
		return 0
	}
	return rate
}

// release keeps a slot for the next who asks.
func (s *State) release(at int64) {
	if at > s.Last {
		return
	}
	for i, free := range s.Free {
		if free == 0 || at < free {
			copy(s.Free[i+1:], s.Free[i:])
			s.Free[i] = at
			return
		}
	}
}

// use takes a slot at its time, or later.
func (s *State) use(now int64) {
	s.turn(now)
	s.Here++
	s.Last = max(s.Last, now-maxLate)
}

// cut lowers the rate.
func (s *State) cut(r Rules, now int64) {
	rate := s.rate(r, now)
	s.Knee = cutTo * rate
	if now-s.Closed >= Second || rate == 0 { // if it has just opened, little was sent for that reason
		sent := max(1, s.perSecond(now)) // at least the attempt that was refused
		if rate == 0 || sent < rate {
			rate = sent
		}
	}
	s.Base, s.Since = max(cutTo*rate, leastRate), now
	s.void(now)
}

// close lets no attempt begin before a time.
func (s *State) close(r Rules, now, until int64) {
	if until > s.Closed {
		s.Base, s.Since, s.Closed = s.rate(r, now), until, until
		s.void(now)
	}
}

// remain spreads the attempts that remain. With none left, the place is closed.
func (s *State) remain(r Rules, now int64, c Call) {
	s.Pace = min(float64(max(c.N, 0))*Second/float64(c.Span), mostRate)
	s.Reset = now + min(c.Span, r.Horizon)
	if c.N <= 0 {
		s.close(r, now, s.Reset)
	}
}

// void makes all slots void that have not been confirmed.
func (s *State) void(now int64) {
	s.Version = max(s.Version+1, now)
	s.Free = [maxFree]int64{}
	s.Last = min(s.Last, now)
}

// outlook returns what holds from now on or, if the place is closed, from its opening on.
func (s *State) outlook(r Rules, now int64) (closed int64, rate float64) {
	if s.Closed > now {
		closed, now = s.Closed, s.Closed
	}
	rate = s.rate(r, now)
	if now < s.Reset && (rate == 0 || s.Pace < rate) {
		rate = s.Pace
	}
	return closed, rate
}

// perSecond returns the attempts of the last second: those of the second under way, and of
// the one before it the part that is not over a second ago, as if they had been even. Those
// of a first second are counted as if it went on like that: ten in the first tenth of it
// are a hundred a second.
func (s *State) perSecond(now int64) float64 {
	s.turn(now)
	age := float64(now-s.Begun) / Second
	if s.First {
		return max(s.Here, (s.Here-1)/max(age, shortWindow))
	}
	return s.Here + s.Before*(1-age)
}

// turn begins a new second once one is over.
func (s *State) turn(now int64) {
	switch age := now - s.Begun; {
	case age >= 2*Second:
		s.Begun, s.Here, s.Before, s.First = now, 0, 0, true
	case age >= Second:
		s.Begun, s.Here, s.Before, s.First = s.Begun+Second, 0, s.Here, false
	}
}
