package words

import (
	"math"
	"time"
)

// Longest is the longest duration, about 292 years.
const Longest = time.Duration(math.MaxInt64)

// Sum returns a + b, or [Longest] if the sum would overflow. A negative duration counts as 0.
func Sum(a, b time.Duration) time.Duration {
	a = max(a, 0)
	return a + min(max(b, 0), Longest-a)
}

// Nanoseconds converts a number of nanoseconds to a duration. It returns 0 for a negative number, and [Longest]
// for a number that does not fit. It returns Longest for NaN, too, which is the product of 0 and infinity: a wait
// that is too long is a nuisance, but no wait is a flood. Halves are rounded to even, so that means stay true.
func Nanoseconds(ns float64) time.Duration {
	switch {
	case ns <= 0:
		return 0
	case ns < math.MaxInt64: // exactly 2^63 as a float64
		return time.Duration(math.RoundToEven(ns))
	}
	return Longest
}
