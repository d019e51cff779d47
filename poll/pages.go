package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/poll/internal/exchange"
	"github.com/pollcli/poll/status"
)

// mostTries is how many slots one look takes for a page, which may be refused for load.
const mostTries = 10

type pacing = exchange.Pace

// pace returns the pace of the further requests of an attempt: each takes a slot of the limiter.
func (s *source) pace() pacing {
	if !s.place.limited {
		return nil
	}
	return func(ctx context.Context, place string, ask func() status.Observation) {
		for range mostTries {
			if !s.waitForSlot(ctx, place) {
				return
			}
			sent := time.Now()
			if !s.isRefused(ctx, place, sent, ask()) {
				return
			}
		}
	}
}

// waitForSlot waits until a request may go to a place. It reports whether it may.
func (s *source) waitForSlot(ctx context.Context, place string) bool {
	var slot time.Time
	for {
		slot, _ = s.loop.Limiter.Next(place, slot)
		wait := time.Until(slot)
		if wait <= 0 {
			return ctx.Err() == nil
		}
		if !sleep(ctx, wait) {
			return false
		}
	}
}

// isRefused tells the limiter what the answer to a further request of an attempt said, and
// reports whether it was refused for load and may be asked for again before the deadline.
func (s *source) isRefused(ctx context.Context, place string, sent time.Time, o status.Observation) bool {
	w, v := s.lead(), status.Verdict{}
	if !o.Good() && !o.Elsewhere {
		v = w.p.Rules.Classify(ctx, o)
	}
	s.tellLimiter(place, sent, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || w.deadline.IsZero() || o.Hint.Wait < time.Until(w.deadline))
}
