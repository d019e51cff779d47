package backoff

import (
	"math"
	"math/rand/v2"
	"time"
)

// RailsSpread is the spread with which Rails' ActiveJob starts a new
// application (config.active_job.retry_jitter).
const RailsSpread = 0.15

// Polynomial waits Base * ((N+1)^Power + 2). With a base of one second and a
// power of 4 this is polynomially_longer of Rails' ActiveJob, once called
// exponentially_longer: e^4 + rand*e^4*jitter + 2 seconds after execution e.
//
//	N    Polynomial{Base: time.Second}    mean with Spread: RailsSpread
//	0    3s                               3.075s
//	1    18s                              19.2s
//	2    1m23s                            1m29.075s
//	3    4m18s                            4m37.2s
//	4    10m27s                           11m13.875s
type Polynomial struct {
	// Base is what the formula is multiplied by; the wait at step 0 is three
	// times it. 0 or less means DefaultBase.
	Base time.Duration
	// Power is the exponent. 0 or less means DefaultPower.
	Power float64
	// Spread is the largest part of the power term, as 0.15 for 15%, that
	// chance adds to the wait. 0 or less means none.
	Spread float64
}

// Wait returns Base * ((N+1)^Power + 2) plus U(0, Spread) of the power term.
func (p Polynomial) Wait(s Step, r *rand.Rand) time.Duration {
	power := p.Power
	if !(power > 0) { // also NaN
		power = DefaultPower
	}
	term := math.Pow(float64(s.N)+1, power)
	wait := term + 2
	if p.Spread > 0 {
		wait += term * p.Spread * r.Float64()
	}
	return saturate(baseOr(p.Base) * wait)
}
