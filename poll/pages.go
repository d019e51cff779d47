package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/poll/internal/exchange"
	"github.com/pollcli/poll/status"
)

// pace returns the pace of the further pages of a source: each takes a slot of the limiter.
func (e *engine) pace(s *source) exchange.Pace {
	return func(ctx context.Context, place string) (heed func(*status.Observation) bool, goesOn bool) {
		for {
			slot := e.Limiter.Reserve(place)
			if !sleep(ctx, time.Until(slot.At)) {
				e.Limiter.Release(slot)
				return nil, false
			}
			if e.Limiter.Confirm(slot) {
				return func(o *status.Observation) bool { return e.heed(ctx, s, slot, o) }, true
			}
		}
	}
}

// heed tells the limiter what the answer to a further request of an attempt said, and reports
// whether it was refused for load and may be asked for again before the deadline.
func (e *engine) heed(ctx context.Context, s *source, slot Slot, o *status.Observation) (again bool) {
	r, refused := s.runs[0], ""
	if !o.Good() && !o.Elsewhere {
		if v := r.Rules.Classify(ctx, *o); v.Status == status.Throttled {
			refused = v.Reason
		}
	}
	e.learn(s, slot, o, refused)
	return refused != "" && (o.Hint == nil || r.deadline.IsZero() || o.Hint.Wait < time.Until(r.deadline))
}
