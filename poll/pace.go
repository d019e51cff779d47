package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A paced source spaces the requests of an attempt behind its first: each takes a slot of the limiter.
type paced struct {
	*source
	sent time.Time // the last request
}

// pace returns the pace of the further requests of an attempt, nil for none.
func (s *source) pace() request.Pace {
	if !s.place.limited {
		return nil
	}
	return &paced{source: s}
}

// Wait waits until a request may go to a place.
func (p *paced) Wait(ctx context.Context, place string) error {
	var slot time.Time
	for {
		slot, _ = p.loop.Limiter.Next(place, slot)
		wait := time.Until(slot)
		if wait <= 0 || ctx.Err() != nil {
			p.sent = time.Now()
			return context.Cause(ctx)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// Done tells the limiter what the answer to a request said, and reports whether it was refused
// for load and may be asked for again before the deadline.
func (p *paced) Done(place string, o status.Observation) (again bool) {
	w, v := p.lead(), status.Verdict{}
	if !o.Good() && !o.Elsewhere {
		v = w.p.Rules.Classify(p.loop.ctx, o)
	}
	p.tellLimiter(place, p.sent, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || w.deadline.IsZero() || o.Hint.Wait < time.Until(w.deadline))
}
