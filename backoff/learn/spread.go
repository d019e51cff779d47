package learn

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
)

// Spread returns a schedule that makes every poll of m later, by up to part (0
// to 1) of the gap that follows it, so that a fleet which waits for the same
// thing does not poll together. The usual jitters, which make waits shorter,
// would add polls instead of moving them: a poll that comes early is made again
// at the age that was meant.
func (m *Model) Spread(part float64) backoff.Schedule {
	return spread{of: m, part: min(max(part, 0), 1)}
}

type spread struct {
	of   *Model
	part float64
}

// Wait returns v + U(0, part * the wait after v), v being the wait of the model.
func (s spread) Wait(step backoff.Step, r *rand.Rand) time.Duration {
	wait := s.of.Wait(step, r)
	gap := s.of.Wait(backoff.Step{Elapsed: later(max(step.Elapsed, 0), wait)}, r)
	wait = later(wait, toDuration(r.Float64()*s.part*gap.Seconds()))
	if s.of.maxWait > 0 {
		wait = min(wait, max(s.of.maxWait, s.of.base))
	}
	return wait
}

// later is the sum of two times that are not negative, saturated.
func later(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
