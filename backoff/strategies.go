package backoff

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// Exponential waits Base * Factor^N. The zero value is the 2^n * 100 ms of the AWS
// General Reference: 100 ms, 200 ms, 400 ms, 800 ms and so on.
type Exponential struct {
	// Base is the wait at step 0. 0 or less means DefaultBase.
	Base time.Duration
	// Factor is the ratio of each wait to the previous wait. With 1.1 each wait is in the long run 10% of the time
	// already waited. Below 1 the waits shrink; 0 or less means 2.
	Factor float64
}

// Wait returns Base * Factor^N. The Factor 1 makes it a [Fixed] wait.
func (e Exponential) Wait(s Step, _ *rand.Rand) time.Duration {
	base, factor := baseOr(e.Base), positiveOr(e.Factor, 2)
	if factor == 1 {
		return s.slowed(words.Nanoseconds(base))
	}
	return words.Nanoseconds(base * math.Pow(factor, float64(s.N)))
}

// Fixed waits the same time before every attempt: Fixed(5 * time.Second). Its
// zero value, Fixed(0), does not wait at all. Each of the Refusals of the [Step] doubles the wait,
// up to the [Cap] around it, or to [DefaultMaxWait] without a Cap.
type Fixed time.Duration

// Wait returns f, doubled for each refusal, or 0 if f is negative.
func (f Fixed) Wait(s Step, _ *rand.Rand) time.Duration {
	return s.slowed(max(0, time.Duration(f)))
}

// Linear waits Base * (N+1): with the default base 100 ms, 200 ms, 300 ms and so
// on. The total grows with the square of the number of attempts.
type Linear struct {
	// Base is the wait at step 0, and the amount that each step adds. 0 or less means DefaultBase.
	Base time.Duration
}

// Wait returns Base * (N+1).
func (l Linear) Wait(s Step, _ *rand.Rand) time.Duration {
	return words.Nanoseconds(baseOr(l.Base) * (float64(s.N) + 1))
}

// Fibonacci waits Base times the Fibonacci numbers 1, 1, 2, 3, 5, ... In the long
// run it grows like Exponential with a factor of 1.618, the golden ratio.
type Fibonacci struct {
	// Base is the wait at steps 0 and 1. 0 or less means DefaultBase.
	Base time.Duration
}

// Wait returns Base times the Fibonacci number at N, counted from 0.
func (f Fibonacci) Wait(s Step, _ *rand.Rand) time.Duration {
	wait, next := baseOr(f.Base), baseOr(f.Base)
	for n := 0; n < s.N && wait < math.MaxInt64; n++ { // at most 92 turns
		wait, next = next, wait+next
	}
	return words.Nanoseconds(wait)
}

// Polynomial waits Base * ((N+1)^Power + 2). With a base of one second, a power of 4 and
// a spread of 0.15 it is polynomially_longer in Rails' ActiveJob, formerly
// exponentially_longer, which waits e^4 + rand*e^4*jitter + 2 seconds after execution e:
// without the jitter 3 s, 18 s, 83 s, 258 s, 627 s and so on. 0.15 is the jitter of a new
// Rails application (config.active_job.retry_jitter).
type Polynomial struct {
	// Base is the unit of the formula; the wait at step 0 is three times as
	// long. 0 or less means DefaultBase.
	Base time.Duration
	// Power is the exponent. 0 or less means 4.
	Power float64
	// Spread is the largest share of the power term that is added at random, such as 0.15 for up to 15%. 0 or less
	// means no random part.
	Spread float64
}

// Wait returns Base * ((N+1)^Power + 2), plus U(0, Spread) of the power term.
func (p Polynomial) Wait(s Step, r *rand.Rand) time.Duration {
	term := math.Pow(float64(s.N)+1, positiveOr(p.Power, 4))
	wait := term + 2
	if p.Spread > 0 {
		wait += term * p.Spread * r.Float64()
	}
	return words.Nanoseconds(baseOr(p.Base) * wait)
}

// Full returns the schedule that draws each wait evenly from 0 to v, the wait of s. When
// many clients contend for a service, Full and [Equal] spare the service most, and
// with Full the clients are done sooner. A single client waits half of v on
// average, so it makes about twice the attempts.
//
//	N    Full(nil)        mean     Equal(nil)       mean
//	0    0s to 100ms      50ms     50ms to 100ms    75ms
//	1    0s to 200ms      100ms    100ms to 200ms   150ms
//	2    0s to 400ms      200ms    200ms to 400ms   300ms
//
// The formulas of Full, [Equal] and [Decorrelated] are those of the AWS
// Architecture Blog, "Exponential Backoff And Jitter", 2015.
func Full(s Schedule) Schedule {
	return known(s).then(func(v time.Duration, r *rand.Rand) time.Duration { return between(0, v, r) })
}

// Equal returns the schedule that keeps half of v, the wait of s, and draws the other
// half. See [Full] for its waits.
func Equal(s Schedule) Schedule {
	return known(s).then(func(v time.Duration, r *rand.Rand) time.Duration { return between(v/2, v, r) })
}

// Decorrelated draws each wait evenly between Base and three times the previous wait. It is both a strategy and a
// jitter, and the only schedule here that reads [Step].Previous. It grows without bound, so it needs a [Cap]
// around it.
//
//	N    Decorrelated{}    mean
//	0    100ms to 300ms    200ms
//	1    100ms to 900ms    350ms
//	2    100ms to 2.7s     575ms
type Decorrelated struct {
	// Base is the shortest wait, and takes the place of the previous one at
	// step 0. 0 or less means DefaultBase.
	Base time.Duration
}

// Wait returns U(Base, 3 * Previous). A previous wait below Base counts as Base.
func (d Decorrelated) Wait(s Step, r *rand.Rand) time.Duration {
	base := baseOr(d.Base)
	return between(words.Nanoseconds(base), words.Nanoseconds(3*max(base, float64(s.Previous))), r)
}

// baseOr returns base in nanoseconds, DefaultBase if it is not set.
func baseOr(base time.Duration) float64 {
	if base <= 0 {
		base = DefaultBase
	}
	return float64(base)
}

// positiveOr returns x, or def if x is not above 0.
func positiveOr(x, def float64) float64 {
	if x > 0 { // false for NaN
		return x
	}
	return def
}

// between returns a duration that is drawn evenly from low to high, both included. The larger the number drawn,
// the longer the wait.
func between(low, high time.Duration, r *rand.Rand) time.Duration {
	drawn := words.Nanoseconds(r.Float64() * float64(high-low))
	return min(words.Sum(low, drawn), high) // float64 may round a long span up
}
