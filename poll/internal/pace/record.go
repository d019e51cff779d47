// Package pace spaces out the requests to an origin, so that all clients together stay within the limits of the
// origin. It does so by slots: a slot is the permission to send one request at a given time. A small [Record]
// holds the state of one origin. Each method of a Record updates the record for one event; the caller passes
// the time of the event. The package keeps no other state, so one limiter can keep its records in memory, and
// another can share its records with other processes.
package pace

import (
	"maps"
	"math"
)

// The constants of the rate control. Rates are in requests, or slots, per second.
const (
	second = 1_000_000 // a second in microseconds

	// Forever is a time in microseconds that is longer than any wait.
	Forever = 1 << 52

	version    = 1
	knownShare = 0.95        // share of a known rate to use: a limit without bursts rejects far fewer requests at 95% than at 99%
	cutTo      = 0.5         // rate after a rejection, as a share of the actual rate of the requests
	below      = 0.85        // Peak after a rejection, as a share of the actual rate of the requests
	burst      = 0.7         // assumed burst allowance of an origin: as many requests as its rate allows in this many seconds
	growth     = 0.015       // linear growth of the rate above Peak per second, as a share of Peak
	steady     = 40          // seconds until cubic growth (RFC 9438) has raised the rate from Peak to twice Peak
	maxIdle    = second / 10 // how late a slot may be taken before the origin counts as idle; not zero, because timers are late
	inFlight   = second / 50 // a request sent within this time after a cut is assumed to have a slot from before the cut
	least      = 1.0 / 60    // minimum rate; not zero, because only requests can show that an origin has recovered
	most       = 1e9         // this rate means no limit
)

// Rules are the settings for an origin. Responses do not change them.
type Rules struct {
	Start    float64 // initial rate, in requests per second
	Most     float64 // maximum rate, in requests per second
	Farthest int64   // maximum distance of a time in a Record from the present, in microseconds
}

// NewRules returns the rules for an origin that allows perSecond requests per second. If perSecond is 0,
// negative or NaN, there is no limit. If known is true, 95% of perSecond is used from the start. If known is false,
// perSecond is an upper estimate, and the rate starts at share*perSecond. The parameter farthest becomes the
// field Farthest.
func NewRules(perSecond float64, known bool, share float64, farthest int64) Rules {
	switch {
	case !(perSecond > 0 && perSecond < most): // written so that NaN means no limit, too
		perSecond, share = most, 1
	case known:
		perSecond, share = knownShare*perSecond, 1
	}
	return Rules{Start: share * perSecond, Most: perSecond, Farthest: farthest}
}

// A Record is the state of one origin. Its times are in microseconds since the epoch of the caller's clock, and
// its rates in requests per second. Settle turns the zero value into the record of a new origin.
type Record struct {
	V      int     `json:"v"`
	Seen   int64   `json:"seen"`   // time when a slot was last taken
	Next   int64   `json:"next"`   // time of the next slot
	Closed int64   `json:"closed"` // end of the pause that the origin requested; there are no slots before
	Epoch  int64   `json:"epoch"`  // time of the last call of Void; slots with a different Epoch are not valid
	Since  int64   `json:"since"`  // time when the rate was Base; moved forward while the origin is idle or closed
	Base   float64 `json:"base"`   // rate at the time Since
	Peak   float64 `json:"peak"`   // the rate doubles each second up to Peak, and grows slowly above Peak
	Sent   float64 `json:"sent"`   // number of slots taken since the last cut
	Pace   float64 `json:"pace"`   // maximum rate until Reset, from a quota; 0 means no quota
	Reset  int64   `json:"reset"`  // time when the quota is renewed
}

// Valid reports whether l has the current version, and only values that the methods can write. It returns false
// for the zero value.
func (l *Record) Valid() bool {
	return l.V == version && l.Seen > 0 && l.Base > 0 && l.Peak >= l.Base && l.Sent >= 0 && l.Pace >= 0
}

// Settle prepares l for use with the rules r. now is the current time. Settle must be called before any other
// method, because another process or release may have written l. It replaces an invalid record by the record of
// a new origin. If the clock was set back, Settle moves the times in l back by the same amount, and makes all
// slots invalid. It limits times to r.Farthest after now, and rates to the range that r allows.
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

// Void invalidates all slots that were taken but not yet used. The next slot is then at now, the current time.
// A request with an invalid slot must take another slot.
func (l *Record) Void(now int64) { l.Next, l.Epoch = now, now }

// Rate returns the rate at the given time, in slots per second. The rate is Base at the time Since. From there
// it doubles each second up to Peak, and grows slowly above Peak. It never exceeds r.Most.
func (l *Record) Rate(r Rules, at int64) float64 {
	age := max(0, float64(at-l.Since)/second)
	rate := l.Base * math.Exp2(min(age, 60))
	if rate > l.Peak {
		late := age - math.Log2(l.Peak/l.Base)
		late = min(late, late/5+l.Sent/20) // with few requests there is little evidence that the origin allows more
		rate = l.Peak * (1 + growth*late + math.Pow(late/steady, 3))
	}
	return min(rate, r.Most)
}

// gap returns the time between two slots at the given rate, in microseconds. If rate is most, it returns 0.
func gap(rate float64) int64 { return int64(math.Ceil(min(second/rate, Forever) - second/most)) }

// Take takes the next slot, and returns its time. If no slot was taken for a while, the unused slots are lost,
// not saved up.
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

// Holds reports whether the slot s is still valid: l was not voided after s was taken, and the origin is not
// closed at the time of s.
func (l *Record) Holds(s Slot) bool { return s.Epoch == l.Epoch && s.At >= l.Closed }

// Refused records that the origin rejected a request because of load. now is the current time, and sent is the
// time when the request was sent. Refused cuts the rate, unless the request took its slot before the last cut,
// which has already accounted for the rejection. If wait is positive, the origin is closed for that many
// microseconds.
func (l *Record) Refused(r Rules, now, sent, wait int64) {
	if sent > l.Epoch+inFlight {
		l.cut(r, now)
	}
	if wait > 0 {
		l.close(now, now+min(wait, r.Farthest))
	}
}

// cut reduces the rate to half of the actual rate, at which requests were sent since the last cut or pause.
// Peak becomes a little less than the actual rate. However, an actual rate of at most half the allowed rate
// does not show the limit of the origin: Peak then becomes the rate that was allowed before the cut. cut also
// makes all slots invalid.
func (l *Record) cut(r Rules, now int64) {
	seconds := max(1, float64(now-l.Since)/second)
	rate := l.Rate(r, now)
	if rate == most { // without a limit, use the actual rate of the requests
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

// close closes the origin until the given time, unless it is already closed for longer. While the origin is
// closed, the rate does not grow.
func (l *Record) close(now, until int64) {
	if longer := until - max(now, l.Closed); longer > 0 {
		l.Closed = until
		l.Since += longer
	}
}

// Remaining records that, from now on, the origin allows n more requests in reset microseconds. It spreads
// these requests evenly over that time. If n is 0 or negative, Remaining closes the origin for that time.
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

// A Result is the outcome of a request. Times are in microseconds.
type Result struct {
	Sent      int64 // time when the request was sent, on the clock of the Record
	Refused   bool  // whether the origin rejected the request because of load
	Wait      int64 // wait that the rejection requested; 0 if it requested none
	Remaining int   // number of requests that the quota still allows
	Reset     int64 // time until the quota is renewed; 0 if the response reported no quota
}

// A Slot is the permission to send one request at the time At. Use Holds to check whether it is still valid.
type Slot struct{ At, Epoch int64 }

// A Given holds slots that were taken for requests, but not used yet. The key is the time that the limiter
// returned for the slot.
type Given map[int64]Slot

// Again returns the slot that g holds under the time had, and true, if that slot is still valid. Otherwise it
// takes the next slot of l, and returns that slot and false.
func (g Given) Again(l *Record, r Rules, now, had int64) (s Slot, same bool) {
	if s, ok := g[had]; ok && l.Holds(s) {
		return s, true
	}
	return Slot{l.Take(r, now), l.Epoch}, false
}

// Keep stores the slot s under the key told, the time that the limiter returns to its caller. If that time is
// not after now, the request is sent at once, so Keep removes the slot instead. Keep also removes slots that
// are still unused a minute after their time.
func (g Given) Keep(now, told int64, s Slot) {
	if delete(g, told); told > now {
		maps.DeleteFunc(g, func(other int64, _ Slot) bool { return other < now-60*second })
		g[told] = s
	}
}

// Learn updates l with the result of a request. now is the current time. Learn reports whether the origin is
// now closed for longer than before.
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
