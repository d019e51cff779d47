package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/poll/internal/exchange"
	"github.com/pollcli/poll/status"
)

// mostTries is how many slots one look takes for a page, which may be refused for load.
const mostTries = 10

// pace returns the pace of the further pages of a source: each takes a slot of the limiter.
func (e *engine) pace(s *source) exchange.Pace {
	return func(ctx context.Context, place string, ask func() status.Observation) {
		for range mostTries {
			slot := e.Limiter.Reserve(place)
			if !sleep(ctx, time.Until(slot.At)) {
				e.Limiter.Release(slot)
				return
			}
			if e.Limiter.Confirm(slot) && !e.isRefused(ctx, s, slot, ask()) {
				return
			}
		}
	}
}

// isRefused tells the limiter what the answer to a further request of an attempt said, and
// reports whether it was refused for load and may be asked for again before the deadline.
func (e *engine) isRefused(ctx context.Context, s *source, slot Slot, o status.Observation) bool {
	r, v := s.runs[0], status.Verdict{}
	if !o.Good() && !o.Elsewhere {
		v = r.Rules.Classify(ctx, o)
	}
	e.learn(s, slot, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || r.deadline.IsZero() || o.Hint.Wait < time.Until(r.deadline))
}
