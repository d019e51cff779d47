package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/status"
)

// A Limiter says when requests may go to a place, so that all that ask there stay within what
// it allows: the targets of a [Group], and others if the Limiter shares what it knows with
// them. It may be used from several goroutines.
//
// No call fails. A Limiter that has to ask elsewhere takes as long as that takes, within
// bounds of its own, and goes on alone where it gets no answer.
type Limiter interface {
	// Next returns when the next request may go to a place: now, or later. had is the time
	// that Next returned for this same request before, zero for none: if that still holds Next
	// returns it, and otherwise another. closed says in words why nothing may go until then,
	// if the place has asked for that; "" means that it is only the turn of others.
	Next(place string, had time.Time) (at time.Time, closed string)
	// Done tells what came of a request, if it was refused or says what remains.
	Done(place string, r Result)
}

// A Result is what came of a request.
type Result struct {
	Sent    time.Time     // when it was sent: one from before the last refusal says nothing new
	Refused bool          // for load
	Wait    time.Duration // that the answer asks for, 0 = none
	Reason  string        // what asks for it, in words
	// Remaining requests are allowed until Reset has passed, if Reset is not 0.
	Remaining int
	Reset     time.Duration
}

// reserve asks the limiter when the request may go.
func (s *source) reserve() {
	var had time.Time
	if first := s.lead(); first.Reserved {
		had = first.Due
	}
	had, closed := s.loop.Limiter.Next(s.place.name, had)
	if s.granted = !had.After(time.Now()); !s.granted && closed != "" {
		s.told = &Place{Name: s.place.name, ClosedUntil: had, Reason: closed}
	}
	for _, w := range s.waits {
		w.Due, w.Reserved = had, true
	}
}

// A paced source spaces the requests of an attempt behind its first: each takes a slot of the limiter.
type paced struct {
	*source
	sent time.Time // the last request
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

// inform tells the limiter what the attempt saw.
func (s *source) inform() {
	v := s.lead().last.verdict
	for _, w := range s.waits {
		if w.last.verdict.Status == status.Throttled {
			v = w.last.verdict
		}
	}
	s.told = s.tellLimiter(s.place.name, s.begun, s.lead().last.observation, v)
}

// tellLimiter tells the limiter what the answer to a request said, if it is of use to it. It
// returns how the place is closed since then, nil if it is not.
func (s *source) tellLimiter(name string, sent time.Time, o *status.Observation, v status.Verdict) *Place {
	refused := v.Status == status.Throttled
	if o.Stopped() || o.Elsewhere || !refused && o.Quota == nil {
		return nil
	}
	r := Result{Sent: sent, Refused: refused, Reason: v.Reason}
	if refused && o.Hint != nil {
		r.Wait, r.Reason = o.Hint.Wait, o.Hint.Source
	}
	wait := r.Wait
	if o.Quota != nil {
		r.Remaining, r.Reset = o.Quota.Remaining, o.Quota.Reset
	}
	if r.Reset > 0 && r.Remaining <= 0 {
		wait = max(wait, r.Reset)
		if !refused {
			r.Reason = "nothing remains of its rate limit"
		}
	}
	s.loop.Limiter.Done(name, r)
	if wait <= 0 {
		return nil
	}
	return &Place{Name: name, ClosedUntil: time.Now().Add(wait), Reason: r.Reason}
}
