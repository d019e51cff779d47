package backoff

import (
	"math/rand/v2"
	"time"
)

// Throttled returns the schedule of the wait after a THROTTLED answer that did
// not say how long to wait: equal jitter on the doubled wait of s. With v the
// wait of s and d = 2v, or the bound of s if that is less, it is drawn evenly
// between d/2 and d, and never below v: a throttled client is not faster than one
// that is merely early. The bound is that of a [Cap], which s is or jitters
// ([Full], [Equal]).
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

// limitOf returns the bound of s, as far as it and what it wraps tell of one.
func limitOf(s Schedule) time.Duration {
	limit := forever
	for {
		switch w := s.(type) {
		case Cap:
			limit, s = min(limit, w.limit()), w.Of
		case Full:
			s = w.Of
		case Equal:
			s = w.Of
		default:
			return limit
		}
	}
}
