// Package pace spaces requests to one place, so that all who ask there stay within what it
// allows. What is known of a place is a small [Record], and whatever happens there is a step
// from one record to the next. The steps take the time as an argument and keep nothing
// elsewhere: one limiter has its records in memory, another shares them with other processes.
package pace

import (
	"maps"
	"math"
)

const (
	second = 1_000_000 // in microseconds

	// Forever is longer than any wait, in microseconds.
	Forever = 1 << 52

	version    = 1
	knownShare = 0.95        // of a known rate: a limit without any burst refuses far less there than at 99%
	cutTo      = 0.5         // what a refusal leaves of the rate that was really sent
	below      = 0.85        // where a rate stops doubling, as a share of what was sent until it was refused
	burst      = 0.7         // about how many seconds' requests a place lets through besides
	growth     = 0.015       // what a rate gains in a second from there on, as a share of it
	steady     = 40          // seconds after which it grows as fast again by the cube of the time (RFC 9438)
	maxIdle    = second / 10 // how late a slot may be taken, because of timers, before the place counts as idle
	inFlight   = second / 50 // a request that was sent so soon after a cut took its slot before
	least      = 1.0 / 60    // a second: no cut goes below it, so that a place that has recovered is noticed
	most       = 1e9         // a second: as good as no limit
)

// Rules are what a process is told about a place before anybody has asked there.
type Rules struct {
	Start    float64 // requests a second at first
	Most     float64 // the highest rate
	Farthest int64   // how far ahead anything is believed, in microseconds
}

// NewRules returns the rules of places that allow perSecond requests (0 = no limit is known),
// or about so many. A rate that is not known begins with a share of that.
func NewRules(perSecond float64, known bool, share float64, farthest int64) Rules {
	switch {
	case perSecond <= 0 || perSecond >= most:
		perSecond, share = most, 1
	case known:
		perSecond, share = knownShare*perSecond, 1
	}
	return Rules{Start: share * perSecond, Most: perSecond, Farthest: farthest}
}

// A Record is what is known of a place. Its times are in microseconds of one clock. The zero
// value is a place of which nothing is known.
type Record struct {
	V      int     `json:"v"`
	Seen   int64   `json:"seen"`   // when the last slot was taken
	Next   int64   `json:"next"`   // the next slot
	Closed int64   `json:"closed"` // no slot before
	Epoch  int64   `json:"epoch"`  // when the rate was cut: slots that were given before are void
	Since  int64   `json:"since"`  // when the rate began to grow, later by the time in which nobody wanted a slot
	Base   float64 `json:"base"`   // the rate then, in requests a second
	Peak   float64 `json:"peak"`   // the rate doubles each second up to here
	Sent   float64 `json:"sent"`   // slots that were given since
	Pace   float64 `json:"pace"`   // the highest rate until Reset, 0 = none
	Reset  int64   `json:"reset"`
}

// Valid reports whether a record makes sense.
func (l *Record) Valid() bool {
	return l.V == version && l.Seen > 0 && l.Base > 0 && l.Peak >= l.Base && l.Sent >= 0 && l.Pace >= 0
}

// Settle makes of a record, whoever wrote it, one that can hold at a time, on a clock that may
// have been set back. It comes before any other step.
func (l *Record) Settle(r Rules, now int64) {
	if !l.Valid() {
		*l = Record{V: version, Seen: now, Next: now, Since: now, Epoch: now - 2*inFlight, Base: r.Start, Peak: r.Start}
	}
	if back := l.Seen - now; back > 0 {
		l.Closed, l.Since, l.Reset = l.Closed-back, l.Since-back, l.Reset-back
		l.Void(now)
	}
	for _, t := range []*int64{&l.Next, &l.Closed, &l.Since, &l.Reset} {
		*t = max(0, min(*t, now+r.Farthest))
	}
	l.Base, l.Peak = r.bound(l.Base), r.bound(l.Peak)
	l.Seen, l.Epoch, l.Sent = min(l.Seen, now), min(l.Epoch, now), min(l.Sent, most)
}

// bound returns the rate next to another that may be.
func (r Rules) bound(rate float64) float64 { return min(max(rate, least), r.Most) }

// Void takes back all slots that are not used. Who has one takes another.
func (l *Record) Void(now int64) { l.Next, l.Epoch = now, now }

// Rate returns how many slots a second there are at a time.
func (l *Record) Rate(r Rules, at int64) float64 {
	age := max(0, float64(at-l.Since)/second)
	rate := l.Base * math.Exp2(min(age, 60))
	if rate > l.Peak {
		late := age - math.Log2(l.Peak/l.Base)
		late = min(late, late/5+l.Sent/20) // few requests tell little
		rate = l.Peak * (1 + growth*late + math.Pow(late/steady, 3))
	}
	return min(rate, r.Most)
}

// gap is the time between two slots, 0 for as good as no limit.
func gap(rate float64) int64 { return int64(math.Ceil(min(second/rate, Forever) - second/most)) }

// Take takes the next slot. What an idle place could have had is not saved up.
func (l *Record) Take(r Rules, now int64) (at int64) {
	if idle := now - l.Next; idle > maxIdle {
		l.Next, l.Since = now, max(l.Since, min(l.Since+idle, now))
	}
	at = max(l.Next, l.Closed)
	l.Next = at + gap(l.Rate(r, at))
	if l.Pace > 0 && at < l.Reset {
		l.Next = max(l.Next, min(at+gap(l.Pace), l.Reset))
	}
	l.Sent++
	l.Seen = now
	return at
}

// Holds reports whether a slot may still be used at its time.
func (l *Record) Holds(s Slot) bool { return s.Epoch == l.Epoch && s.At >= l.Closed }

// Refused notes that a request was refused for load, and for how long if wait is not 0.
func (l *Record) Refused(r Rules, now, sent, wait int64) {
	if sent > l.Epoch+inFlight {
		l.cut(r, now)
	}
	if wait > 0 {
		l.close(now, now+min(wait, r.Farthest))
	}
}

// cut lowers the rate to half of what was sent since it was cut last, or since the place
// opened. From there it doubles up to a little below what was sent; but where hardly anything
// was sent, that is no measure, and it doubles up to what it was.
func (l *Record) cut(r Rules, now int64) {
	seconds := max(1, float64(now-l.Since)/second)
	rate := l.Rate(r, now)
	if rate == most { // that is no measure
		rate = max(1, l.Sent) / seconds
	}
	unused := float64(max(0, l.Next-now)) * rate / second
	slots := max(1, l.Sent-unused)
	sent := min(slots/seconds, rate)
	l.Base, l.Peak = r.bound(cutTo*sent), r.bound(rate)
	if sent > rate/2 {
		l.Peak = r.bound(below * min(rate, slots/(seconds+burst)))
	}
	l.Void(now)
	l.Base = min(l.Base, l.Peak)
	l.Since, l.Sent, l.Next = max(now, l.Closed), 0, now+gap(l.Base)
}

// close lets no request go before a time. The rate does not grow until then.
func (l *Record) close(now, until int64) {
	if longer := until - max(now, l.Closed); longer > 0 {
		l.Closed = until
		l.Since += longer
	}
}

// Remaining spreads n requests over the time until reset has passed. With none left, the place
// is closed until then.
func (l *Record) Remaining(r Rules, now int64, n int, reset int64) {
	reset = max(1, min(reset, r.Farthest))
	l.Reset = now + reset
	l.Pace = min(float64(max(n, 0))*second/float64(reset), most)
	if n <= 0 {
		l.close(now, l.Reset)
		return
	}
	l.Next = max(l.Next, min(now+gap(l.Pace), l.Reset))
}

// A Result is what came of a request, in the time of the [Record].
type Result struct {
	Sent      int64 // when it was sent
	Refused   bool  // for load
	Wait      int64 // that the refusal asked for, 0 = none
	Remaining int   // requests that are allowed until Reset has passed, if that is more than 0
	Reset     int64
}

// A Slot is a time for one request, in the time of its [Record].
type Slot struct{ At, Epoch int64 }

// Given are the slots that were given for later, by the time that the caller was told.
type Given map[int64]Slot

// Again returns the slot that a request has if it still holds, and takes another otherwise.
func (g Given) Again(l *Record, r Rules, now, had int64) (s Slot, same bool) {
	if s, ok := g[had]; ok && l.Holds(s) {
		return s, true
	}
	return Slot{l.Take(r, now), l.Epoch}, false
}

// Keep notes a slot that was told for later. A slot is used once it is told for now.
func (g Given) Keep(now, told int64, s Slot) {
	if delete(g, told); told > now {
		maps.DeleteFunc(g, func(other int64, _ Slot) bool { return other < now-60*second })
		g[told] = s
	}
}

// Learn notes what came of a request. It reports whether the place is closed for longer now.
func (l *Record) Learn(r Rules, now int64, result Result) (closed bool) {
	before := l.Closed
	if result.Reset > 0 {
		l.Remaining(r, now, result.Remaining, result.Reset)
	}
	if result.Refused {
		l.Refused(r, now, result.Sent, result.Wait)
	}
	return l.Closed > before
}
