package backoff

import (
	"math/rand/v2"
	"time"
)

// Full draws each wait evenly between 0 and the wait v of the schedule it wraps
// (AWS Architecture Blog, "Exponential Backoff And Jitter"). Of many contending
// clients it asks the least work; a single client on average sees each attempt
// at half of v.
//
//	N    Full{}           mean
//	0    0s to 100ms      50ms
//	1    0s to 200ms      100ms
//	2    0s to 400ms      200ms
type Full struct {
	// Of is the schedule to spread. nil means Exponential{}.
	Of Schedule
}

// Wait returns U(0, v).
func (f Full) Wait(s Step, r *rand.Rand) time.Duration {
	return between(0, orExponential(f.Of).Wait(s, r), r)
}

// Equal keeps half of the wait v of the schedule it wraps and draws the other
// half (AWS Architecture Blog, "Exponential Backoff And Jitter").
//
//	N    Equal{}          mean
//	0    50ms to 100ms    75ms
//	1    100ms to 200ms   150ms
//	2    200ms to 400ms   300ms
type Equal struct {
	// Of is the schedule to spread. nil means Exponential{}.
	Of Schedule
}

// Wait returns v/2 + U(0, v/2).
func (e Equal) Wait(s Step, r *rand.Rand) time.Duration {
	v := orExponential(e.Of).Wait(s, r)
	return between(v/2, v, r)
}

// Decorrelated draws each wait evenly between Base and three times the wait
// before (AWS Architecture Blog, "Exponential Backoff And Jitter"). It is a
// strategy and a jitter in one, and the only schedule here that asks for
// [Step.Previous]. Bound it with a [Cap] around it.
//
//	N    Decorrelated{}    mean
//	0    100ms to 300ms    200ms
//	1    100ms to 900ms    350ms
//	2    100ms to 2.7s     575ms
type Decorrelated struct {
	// Base is the shortest wait, and stands for the previous one at step 0.
	// 0 or less means DefaultBase.
	Base time.Duration
}

// Wait returns U(Base, 3 * Previous). A previous wait below Base counts as Base.
func (d Decorrelated) Wait(s Step, r *rand.Rand) time.Duration {
	base := baseOr(d.Base)
	return between(saturate(base), saturate(3*max(base, float64(s.Previous))), r)
}

// between draws evenly from low to high, both included. It grows with the number
// drawn, which the means of [Table] rely on.
func between(low, high time.Duration, r *rand.Rand) time.Duration {
	drawn := saturate(r.Float64() * float64(high-low))
	return min(sum(low, drawn), high) // float64 may round a long span up
}
