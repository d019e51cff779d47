package backoff

import (
	"math/rand/v2"
	"time"
)

// Fixed waits the same before every attempt: Fixed(5 * time.Second). Fixed(0)
// does not wait at all.
type Fixed time.Duration

// Wait returns f, or 0 if f is negative.
func (f Fixed) Wait(Step, *rand.Rand) time.Duration {
	return max(0, time.Duration(f))
}
