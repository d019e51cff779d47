package backoff

import (
	"math"
	"math/rand/v2"
	"time"
)

// Fibonacci waits Base times the Fibonacci numbers 1, 1, 2, 3, 5, ...: in the
// long run an exponential growth by 1.618.
//
//	N    Fibonacci{}
//	0    100ms
//	1    100ms
//	2    200ms
//	3    300ms
//	4    500ms
//	9    5.5s
type Fibonacci struct {
	// Base is the wait at steps 0 and 1. 0 or less means DefaultBase.
	Base time.Duration
}

// Wait returns Base times the Fibonacci number at N.
func (f Fibonacci) Wait(s Step, _ *rand.Rand) time.Duration {
	wait, next := baseOr(f.Base), baseOr(f.Base)
	for n := 0; n < s.N && wait < math.MaxInt64; n++ { // at most 92 turns
		wait, next = next, wait+next
	}
	return saturate(wait)
}
