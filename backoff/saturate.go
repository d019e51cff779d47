package backoff

import (
	"math"
	"time"
)

// forever is the longest wait there is, about 292 years.
const forever = time.Duration(math.MaxInt64)

// saturate turns a number of nanoseconds into a wait. What is below 0 becomes 0
// and what does not fit becomes forever. So does NaN, the outcome of 0 times
// infinity: too long a wait is a nuisance, none at all is a flood. Halves go to
// the even neighbour, which keeps means true.
func saturate(ns float64) time.Duration {
	switch {
	case ns <= 0:
		return 0
	case ns < math.MaxInt64: // exactly 2^63 as a float64
		return time.Duration(math.RoundToEven(ns))
	default:
		return forever
	}
}

// sum adds two waits, neither of them negative.
func sum(a, b time.Duration) time.Duration {
	if a > forever-b {
		return forever
	}
	return a + b
}
