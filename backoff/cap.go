package backoff

import (
	"math/rand/v2"
	"time"
)

// Cap bounds a schedule from above: no wait is longer than Max. A jitter around
// a Cap draws below the bound; a Cap around a jitter cuts what was drawn, and
// many waits then come out as Max exactly.
//
//	N                                    0      1      2      3      4
//	Cap{Max: time.Second}                100ms  200ms  400ms  800ms  1s
type Cap struct {
	// Of is the schedule to bound. nil means Exponential{}.
	Of Schedule
	// Max is the longest wait. 0 or less means no bound.
	Max time.Duration
}

// Wait returns the wait of c.Of, at most Max.
func (c Cap) Wait(s Step, r *rand.Rand) time.Duration {
	return min(orExponential(c.Of).Wait(s, r), c.limit())
}

// limit returns the longest wait there can be.
func (c Cap) limit() time.Duration {
	if c.Max <= 0 {
		return forever
	}
	return c.Max
}

// orExponential gives the wrappers their useful zero value.
func orExponential(s Schedule) Schedule {
	if s == nil {
		return Exponential{}
	}
	return s
}
