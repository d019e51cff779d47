package backoff

import (
	"math"
	"math/rand/v2"
	"time"
)

// Defaults of the strategies' parameters. The first two are those of the
// pseudocode in the AWS General Reference, which waits 2^n * 100 ms.
const (
	DefaultBase   = 100 * time.Millisecond
	DefaultFactor = 2.0
	DefaultPower  = 4.0
)

// Exponential waits Base * Factor^N: the AWS General Reference's 2^n * 100 ms.
//
//	N    Exponential{}    Exponential{Base: time.Second, Factor: 1.1}
//	0    100ms            1s
//	1    200ms            1.1s
//	2    400ms            1.21s
//	3    800ms            1.331s
//	9    51.2s            2.357947691s
type Exponential struct {
	// Base is the wait at step 0. 0 or less means DefaultBase.
	Base time.Duration
	// Factor is what each wait is multiplied by to give the next: 1.1 keeps
	// each wait near 10% of the time already waited. 0 or less means
	// DefaultFactor. Below 1 the waits shrink.
	Factor float64
}

// Wait returns Base * Factor^N.
func (e Exponential) Wait(s Step, _ *rand.Rand) time.Duration {
	base, factor := e.parameters()
	return saturate(base * math.Pow(factor, float64(s.N)))
}

// parameters returns the base in nanoseconds and the factor, defaults put in.
func (e Exponential) parameters() (base, factor float64) {
	factor = e.Factor
	if !(factor > 0) { // also NaN
		factor = DefaultFactor
	}
	return baseOr(e.Base), factor
}

// baseOr returns the base in nanoseconds, or the default for one that is not set.
func baseOr(base time.Duration) float64 {
	if base <= 0 {
		base = DefaultBase
	}
	return float64(base)
}
