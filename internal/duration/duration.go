// Package duration adds and rounds durations that saturate: none overflows.
package duration

import (
	"math"
	"time"
)

// Longest is the longest duration there is, about 292 years.
const Longest = time.Duration(math.MaxInt64)

// Add returns a + b, or [Longest] if the sum would overflow. A negative duration counts as 0.
func Add(a, b time.Duration) time.Duration {
	a = max(a, 0)
	return a + min(max(b, 0), Longest-a)
}

// Round converts nanoseconds to a duration. Negative numbers become 0, and what does not
// fit becomes [Longest]. So does NaN, the product of 0 and infinity: too long a wait is a
// nuisance, but no wait is a flood. Halves round to even, which keeps means true.
func Round(ns float64) time.Duration {
	switch {
	case ns <= 0:
		return 0
	case ns < math.MaxInt64: // exactly 2^63 as a float64
		return time.Duration(math.RoundToEven(ns))
	}
	return Longest
}
