package poll

import (
	"context"
	"errors"
	"time"

	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// mostTries is how many slots one request takes until one of them holds.
const mostTries = 10

// pace returns the pace of a source: each request of an attempt takes a slot of the limiter,
// the first by the engine.
func (e *engine) pace(s *source) request.Pace { return &slots{engine: e, source: s} }

// slots are the slots of the limiter for the further requests of an attempt.
type slots struct {
	*engine
	source *source
	last   Slot
}

// Wait waits until a further request may go to a place.
func (p *slots) Wait(ctx context.Context, place string) error {
	for range mostTries {
		p.last = p.Limiter.Reserve(place)
		if !sleep(ctx, time.Until(p.last.At)) {
			p.Limiter.Release(p.last)
			return context.Cause(ctx)
		}
		if p.Limiter.Confirm(p.last) {
			return nil
		}
	}
	return errors.New("the limiter has no slot")
}

// Done tells the limiter what the answer to a request said, and reports whether it was refused
// for load and may be asked for again before the deadline.
func (p *slots) Done(_ string, o status.Observation) (again bool) {
	r, v := p.source.runs[0], status.Verdict{}
	if !o.Good() && !o.Elsewhere {
		v = r.Rules.Classify(context.Background(), o)
	}
	p.learn(p.source, p.last, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || r.deadline.IsZero() || o.Hint.Wait < time.Until(r.deadline))
}
