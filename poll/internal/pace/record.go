// Package pace spaces out the requests to one origin, so that all clients together stay within the limits of the
// origin. A small [Record] holds the state of an origin. Each method of a Record changes the record for one event, at
// a time that the caller passes. The package keeps no other state: one limiter keeps its records in memory, another
// shares its records with other processes.
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
	knownShare = 0.95        // used share of a known rate: a limit without bursts rejects far less at 95% than at 99%
	cutTo      = 0.5         // rate after a rejection, as a share of the rate that was sent
	below      = 0.85        // Peak after a rejection, as a share of the rate that was sent
	burst      = 0.7         // assumed burst allowance of an origin, in seconds of its rate
	growth     = 0.015       // linear growth above Peak in one second, as a share of Peak
	steady     = 40          // seconds above Peak in which the cubic growth (RFC 9438) adds one more Peak
	maxIdle    = second / 10 // how late a slot may be taken before the origin counts as idle: timers are late
	inFlight   = second / 50 // a request that is sent within this time after a cut has an older slot
	least      = 1.0 / 60    // lowest rate, in requests per second: some requests must notice that an origin recovered
	most       = 1e9         // requests per second: means no limit
)

// Rules are the settings for an origin. They do not depend on its responses.
type Rules struct {
	Start    float64 // first rate, in requests per second
	Most     float64 // highest rate, in requests per second
	Farthest int64   // longest accepted time from now to any time of a Record, in microseconds
}

// NewRules returns the rules for an origin that allows perSecond requests per second. A perSecond of 0 or less means
// no limit. If known is true, requests use 95% of perSecond from the start. If known is false, perSecond is an upper
// estimate, and the rate starts at share*perSecond. farthest becomes Farthest.
func NewRules(perSecond float64, known bool, share float64, farthest int64) Rules {
	switch {
	case perSecond <= 0 || perSecond >= most:
		perSecond, share = most, 1
	case known:
		perSecond, share = knownShare*perSecond, 1
	}
	return Rules{Start: share * perSecond, Most: perSecond, Farthest: farthest}
}

// A Record is the state of an origin. Times are in microseconds since the epoch of the caller's clock, rates in
// requests per second. Settle turns the zero value into the record of a new origin.
type Record struct {
	V      int     `json:"v"`
	Seen   int64   `json:"seen"`   // time at which the last slot was taken
	Next   int64   `json:"next"`   // time of the next slot
	Closed int64   `json:"closed"` // end of the time without slots that the origin requested
	Epoch  int64   `json:"epoch"`  // time of the last Void: slots with another Epoch are void
	Since  int64   `json:"since"`  // time at which the rate was Base; idle and closed times move Since
	Base   float64 `json:"base"`   // rate at Since
	Peak   float64 `json:"peak"`   // rate up to which the rate doubles each second, and above which growth is slow
	Sent   float64 `json:"sent"`   // number of slots taken since the last cut
	Pace   float64 `json:"pace"`   // highest rate until Reset; 0 means no quota
	Reset  int64   `json:"reset"`  // time at which the quota ends
}

// Valid reports whether l has the current version, and values that the methods can write. It returns false for the
// zero value.
func (l *Record) Valid() bool {
	return l.V == version && l.Seen > 0 && l.Base > 0 && l.Peak >= l.Base && l.Sent >= 0 && l.Pace >= 0
}

// Settle prepares l for the time now and the rules r. It must precede every other step, because another process or
// release may have written l. Settle replaces an invalid record with the record of a new origin. If the clock was set
// back, it moves the times of l back and voids all slots. It limits times to r.Farthest after now, and rates to r.
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

// bound returns rate, limited to the range from least to r.Most.
func (r Rules) bound(rate float64) float64 { return min(max(rate, least), r.Most) }

// Void voids all slots that were taken and not used, and makes now the next slot. A request with a void slot has to
// take another slot.
func (l *Record) Void(now int64) { l.Next, l.Epoch = now, now }

// Rate returns the rate at the time at, in slots per second. The rate starts with Base at Since, doubles each second up
// to Peak, and grows slowly above Peak. It never exceeds r.Most.
func (l *Record) Rate(r Rules, at int64) float64 {
	age := max(0, float64(at-l.Since)/second)
	rate := l.Base * math.Exp2(min(age, 60))
	if rate > l.Peak {
		late := age - math.Log2(l.Peak/l.Base)
		late = min(late, late/5+l.Sent/20) // few requests are little evidence for more
		rate = l.Peak * (1 + growth*late + math.Pow(late/steady, 3))
	}
	return min(rate, r.Most)
}

// gap returns the time between two slots in microseconds. It returns 0 for the rate most.
func gap(rate float64) int64 { return int64(math.Ceil(min(second/rate, Forever) - second/most)) }

// Take takes the next slot, and returns its time. Unused slots of an idle origin are not saved up.
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

// Holds reports whether s may be used at its time: it returns false if s is void, or if the origin is closed then.
func (l *Record) Holds(s Slot) bool { return s.Epoch == l.Epoch && s.At >= l.Closed }

// Refused notes at the time now that the origin rejected a request because of load. sent is the time at which the
// request was sent. A request that got its slot before the last cut does not cut the rate again. If wait, in
// microseconds, is not 0, the origin is closed for that time.
func (l *Record) Refused(r Rules, now, sent, wait int64) {
	if sent > l.Epoch+inFlight {
		l.cut(r, now)
	}
	if wait > 0 {
		l.close(now, now+min(wait, r.Farthest))
	}
}

// cut lowers the rate to half of the rate that was sent since the last cut, or since the origin opened. Peak becomes a
// little less than the rate that was sent. If at most half of the allowed rate was sent, the rate that was sent does
// not show the limit. Then Peak becomes the rate before the cut. cut also voids all slots.
func (l *Record) cut(r Rules, now int64) {
	seconds := max(1, float64(now-l.Since)/second)
	rate := l.Rate(r, now)
	if rate == most { // without a limit, the actual rate of the requests counts
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

// close closes the origin until the time until, if it is not closed for longer. The rate does not grow while the
// origin is closed.
func (l *Record) close(now, until int64) {
	if longer := until - max(now, l.Closed); longer > 0 {
		l.Closed = until
		l.Since += longer
	}
}

// Remaining notes a quota of n requests for the next reset microseconds. It spreads n requests evenly over that time.
// If n is 0 or less, it closes the origin for that time.
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

// A Result is the outcome of a request. Its times are in microseconds.
type Result struct {
	Sent      int64 // time at which the request was sent, on the clock of the Record
	Refused   bool  // the origin rejected the request because of load
	Wait      int64 // wait that the rejection requested; 0 if it requested no wait
	Remaining int   // number of requests left in the quota
	Reset     int64 // time left until the quota is renewed; 0 if the response reported no quota
}

// A Slot is the permission to send one request at the time At. Holds reports whether the slot is still valid.
type Slot struct{ At, Epoch int64 }

// Given holds the slots for later requests. The key is the time that the caller of a limiter received for the slot.
type Given map[int64]Slot

// Again returns the slot that g holds for the time had, if the slot still holds. Then same is true. Otherwise Again
// takes the next slot.
func (g Given) Again(l *Record, r Rules, now, had int64) (s Slot, same bool) {
	if s, ok := g[had]; ok && l.Holds(s) {
		return s, true
	}
	return Slot{l.Take(r, now), l.Epoch}, false
}

// Keep stores s for the time told, if told is after now. Otherwise the request is sent now, and Keep removes the slot.
// Keep also removes slots that were due more than a minute ago, which nobody used.
func (g Given) Keep(now, told int64, s Slot) {
	if delete(g, told); told > now {
		maps.DeleteFunc(g, func(other int64, _ Slot) bool { return other < now-60*second })
		g[told] = s
	}
}

// Learn updates l with the result of a request, at the time now. It reports whether the origin is now closed for
// longer than before.
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
