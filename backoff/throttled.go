package backoff

import (
	"math/rand/v2"
	"time"
)

// Throttled returns the schedule of the wait after a THROTTLED answer that did
// not say how long to wait: equal jitter on the doubled wait of s. With v the
// wait of s and d = 2v, or the bound of a [Cap] that s is if that is less, it is
// drawn evenly between d/2 and d, and never below v: a throttled client is not
// faster than one that is merely early.
//
//	s                                    v      Throttled(s)
//	Exponential{}                        100ms  100ms to 200ms
//	Cap{Max: 20 * time.Second}           12.8s  12.8s to 20s
//	Cap{Max: 20 * time.Second}           20s    20s
func Throttled(s Schedule) Schedule {
	return throttled{of: s, limit: limitOf(s)}
}

type throttled struct {
	of    Schedule
	limit time.Duration
}

func (t throttled) Wait(s Step, r *rand.Rand) time.Duration {
	plain := t.of.Wait(s, r)
	doubled := min(sum(plain, plain), t.limit)
	return between(max(plain, doubled/2), doubled, r)
}

// limitOf returns the bound of s and of what it wraps, as far as they are caps.
func limitOf(s Schedule) time.Duration {
	limit := forever
	for {
		c, ok := s.(Cap)
		if !ok {
			return limit
		}
		limit, s = min(limit, c.limit()), c.Of
	}
}
