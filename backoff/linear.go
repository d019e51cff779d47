package backoff

import (
	"math/rand/v2"
	"time"
)

// Linear waits Base * (N+1), so the time waited grows with the square of the
// attempts.
//
//	N    Linear{}
//	0    100ms
//	1    200ms
//	2    300ms
//	9    1s
type Linear struct {
	// Base is the wait at step 0 and what each wait adds. 0 or less means
	// DefaultBase.
	Base time.Duration
}

// Wait returns Base * (N+1).
func (l Linear) Wait(s Step, _ *rand.Rand) time.Duration {
	return saturate(baseOr(l.Base) * (float64(s.N) + 1))
}
