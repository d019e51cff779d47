package backoff

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// Exponential waits Base * Factor^N. The zero value waits 2^n * 100 ms, as in the AWS General Reference: 100 ms,
// 200 ms, 400 ms, 800 ms and so on.
type Exponential struct {
	// Base is the wait at step 0. A value of 0 or less means [DefaultBase].
	Base time.Duration
	// Factor is the ratio of each wait to the previous wait. With a factor of 1.1, each wait is, in the long run, 10%
	// of the time elapsed so far. With a factor below 1, the waits become shorter. A value of 0 or less means 2.
	Factor float64
}

// Wait returns Base * Factor^N. If Factor is 1, this wait is the same at every step. Each of the Refusals of s then
// doubles the wait, as in [Fixed].
func (e Exponential) Wait(s Step, _ *rand.Rand) time.Duration {
	base, factor := baseOr(e.Base), positiveOr(e.Factor, 2)
	if factor == 1 {
		return s.slowed(words.Nanoseconds(base))
	}
	return words.Nanoseconds(base * math.Pow(factor, float64(s.N)))
}

// Fixed waits the same time before every attempt, as in Fixed(5 * time.Second). The zero value does not wait at
// all. Each of the Refusals of the [Step] doubles the wait, up to the limit of the [Cap] around it. Without a Cap,
// the limit is [DefaultMaxWait] or twice the wait, whichever is longer.
type Fixed time.Duration

// Wait returns f, doubled for each of the Refusals of s, up to the limit. It returns 0 if f is negative.
func (f Fixed) Wait(s Step, _ *rand.Rand) time.Duration {
	return s.slowed(max(0, time.Duration(f)))
}

// Linear waits Base * (N+1). With the default base, the waits are 100 ms, 200 ms, 300 ms and so on. Their sum
// grows with the square of the number of attempts.
type Linear struct {
	// Base is the wait at step 0, and the amount that each step adds. A value of 0 or less means [DefaultBase].
	Base time.Duration
}

// Wait returns Base * (N+1).
func (l Linear) Wait(s Step, _ *rand.Rand) time.Duration {
	return words.Nanoseconds(baseOr(l.Base) * (float64(s.N) + 1))
}

// Fibonacci waits Base times the Fibonacci numbers 1, 1, 2, 3, 5, ... In the long run, it grows like [Exponential]
// with a factor of 1.618, the golden ratio.
type Fibonacci struct {
	// Base is the wait at steps 0 and 1. A value of 0 or less means [DefaultBase].
	Base time.Duration
}

// Wait returns Base times the Fibonacci number with the index N, starting at 0.
func (f Fibonacci) Wait(s Step, _ *rand.Rand) time.Duration {
	wait, next := baseOr(f.Base), baseOr(f.Base)
	for n := 0; n < s.N && wait < math.MaxInt64; n++ { // at most 92 iterations
		wait, next = next, wait+next
	}
	return words.Nanoseconds(wait)
}

// Polynomial waits Base * ((N+1)^Power + 2).
//
// With a Base of one second, a Power of 4 and a Spread of 0.15, it waits like polynomially_longer in Rails'
// ActiveJob, which was formerly called exponentially_longer. This algorithm waits e^4 + rand*e^4*jitter + 2
// seconds after execution e. Without the random part, the waits are 3 s, 18 s, 83 s, 258 s, 627 s and so on. New
// Rails applications use 0.15 as the jitter (config.active_job.retry_jitter).
type Polynomial struct {
	// Base is the unit of the formula. The wait at step 0 is three times Base. A value of 0 or less means
	// [DefaultBase].
	Base time.Duration
	// Power is the exponent. A value of 0 or less means 4.
	Power float64
	// Spread is the maximum share of (N+1)^Power that is added at random, such as 0.15 for up to 15%. A value of 0
	// or less means that nothing is added.
	Spread float64
}

// Wait returns Base * ((N+1)^Power + 2), plus a random part of up to Base * Spread * (N+1)^Power.
func (p Polynomial) Wait(s Step, r *rand.Rand) time.Duration {
	term := math.Pow(float64(s.N)+1, positiveOr(p.Power, 4))
	wait := term + 2
	if p.Spread > 0 {
		wait += term * p.Spread * r.Float64()
	}
	return words.Nanoseconds(baseOr(p.Base) * wait)
}

// Full returns a schedule that draws each wait evenly between 0 and v, the wait of s. If many clients compete for
// a service, Full and [Equal] put the least load on the service, and with Full the clients finish sooner. If there
// is only one client, it waits half of v on average, and so makes about twice as many attempts.
//
//	N    Full(nil)        mean     Equal(nil)       mean
//	0    0s to 100ms      50ms     50ms to 100ms    75ms
//	1    0s to 200ms      100ms    100ms to 200ms   150ms
//	2    0s to 400ms      200ms    200ms to 400ms   300ms
//
// The formulas of Full, [Equal] and [Decorrelated] come from the AWS Architecture Blog, "Exponential Backoff And
// Jitter", 2015.
func Full(s Schedule) Schedule {
	return known(s).then(func(v time.Duration, r *rand.Rand) time.Duration { return between(0, v, r) })
}

// Equal returns a schedule that draws each wait evenly between v/2 and v, where v is the wait of s. See [Full] for
// examples.
func Equal(s Schedule) Schedule {
	return known(s).then(func(v time.Duration, r *rand.Rand) time.Duration { return between(v/2, v, r) })
}

// Decorrelated draws each wait evenly between Base and three times the previous wait. It is both a strategy and a
// jitter, and the only schedule in this package that reads the Previous field of a [Step]. Its waits grow without
// limit unless there is a [Cap] around it.
//
//	N    Decorrelated{}    mean
//	0    100ms to 300ms    200ms
//	1    100ms to 900ms    350ms
//	2    100ms to 2.7s     575ms
type Decorrelated struct {
	// Base is the shortest wait. At step 0, it takes the place of the previous wait. A value of 0 or less means
	// [DefaultBase].
	Base time.Duration
}

// Wait returns a random duration between Base and 3 * Previous. If Previous is shorter than Base, the upper limit is
// 3 * Base.
func (d Decorrelated) Wait(s Step, r *rand.Rand) time.Duration {
	base := baseOr(d.Base)
	return between(words.Nanoseconds(base), words.Nanoseconds(3*max(base, float64(s.Previous))), r)
}

// baseOr returns base in nanoseconds. If base is 0 or less, it returns DefaultBase.
func baseOr(base time.Duration) float64 {
	if base <= 0 {
		base = DefaultBase
	}
	return float64(base)
}

// positiveOr returns x. If x is not positive, it returns def.
func positiveOr(x, def float64) float64 {
	if x > 0 { // false for NaN
		return x
	}
	return def
}

// between returns a duration that is drawn evenly from low to high, both inclusive. A larger number from r means a
// longer duration.
func between(low, high time.Duration, r *rand.Rand) time.Duration {
	drawn := words.Nanoseconds(r.Float64() * float64(high-low))
	return min(words.Sum(low, drawn), high) // rounding to float64 may make a long span longer
}
