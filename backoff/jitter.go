package backoff

import (
	"math/rand/v2"
	"time"
)

// Full draws each wait evenly from 0 to v, the wait of the schedule it wraps. When
// many clients contend for a service, Full and [Equal] spare the service most, and
// with Full the clients are done sooner. A single client waits half of v on
// average, so it makes about twice the attempts.
//
//	N    Full{}           mean
//	0    0s to 100ms      50ms
//	1    0s to 200ms      100ms
//	2    0s to 400ms      200ms
//
// The formula is that of the AWS Architecture Blog, "Exponential Backoff And
// Jitter".
type Full struct {
	// Of is the schedule to spread. nil means Exponential{}.
	Of Schedule
}

// Wait returns U(0, v).
func (f Full) Wait(s Step, r *rand.Rand) time.Duration {
	return between(0, orExponential(f.Of).Wait(s, r), r)
}

// Equal keeps half of v, the wait of the schedule it wraps, and draws the other
// half.
//
//	N    Equal{}          mean
//	0    50ms to 100ms    75ms
//	1    100ms to 200ms   150ms
//	2    200ms to 400ms   300ms
//
// The formula is that of the AWS Architecture Blog, "Exponential Backoff And
// Jitter".
type Equal struct {
	// Of is the schedule to spread. nil means Exponential{}.
	Of Schedule
}

// Wait returns v/2 + U(0, v/2).
func (e Equal) Wait(s Step, r *rand.Rand) time.Duration {
	v := orExponential(e.Of).Wait(s, r)
	return between(v/2, v, r)
}

// Decorrelated draws each wait evenly between Base and three times the previous
// wait. It is a strategy and a jitter in one, and the only schedule here that
// looks at [Step].Previous. It grows without bound; put a [Cap] around it.
//
//	N    Decorrelated{}    mean
//	0    100ms to 300ms    200ms
//	1    100ms to 900ms    350ms
//	2    100ms to 2.7s     575ms
//
// The formula is that of the AWS Architecture Blog, "Exponential Backoff And
// Jitter".
type Decorrelated struct {
	// Base is the shortest wait, and takes the place of the previous one at
	// step 0. 0 or less means DefaultBase.
	Base time.Duration
}

// Wait returns U(Base, 3 * Previous). A previous wait below Base counts as Base.
func (d Decorrelated) Wait(s Step, r *rand.Rand) time.Duration {
	base := baseOr(d.Base)
	return between(saturate(base), saturate(3*max(base, float64(s.Previous))), r)
}

// Throttled returns the schedule for the wait after an answer that asked the
// client to slow down but did not say for how long. With v the wait of s and
// d = 2v, but no more than the bound of s, it draws evenly between d/2 and d and
// never less than v: a client that was throttled must not be faster than one that
// was merely early. The bound of s is that of a [Cap], also inside [Full], [Equal]
// and [Max]. nil means Exponential{}.
//
//	s                                    v      Throttled(s)
//	Exponential{}                        100ms  100ms to 200ms
//	Cap{Max: 20 * time.Second}           12.8s  12.8s to 20s
//	Cap{Max: 20 * time.Second}           20s    20s
func Throttled(s Schedule) Schedule {
	s = orExponential(s)
	return throttled{of: s, limit: limitOf(s)}
}

type throttled struct {
	of    Schedule
	limit time.Duration
}

func (t throttled) Wait(s Step, r *rand.Rand) time.Duration {
	plain := t.of.Wait(s, r)
	doubled := min(Add(plain, plain), t.limit)
	return between(max(plain, doubled/2), doubled, r)
}

// between draws evenly from low to high, both included. The result grows with
// the number drawn, which the means of [Table] rely on.
func between(low, high time.Duration, r *rand.Rand) time.Duration {
	drawn := saturate(r.Float64() * float64(high-low))
	return min(Add(low, drawn), high) // float64 may round a long span up
}
