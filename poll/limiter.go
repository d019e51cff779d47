package poll

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/pace"
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
	if s.Reserved {
		had = s.Due
	}
	s.Due, s.held = s.loop.Limiter.Next(s.place.name, had)
	s.granted, s.Reserved = !s.Due.After(time.Now()), true
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
	v := status.Verdict{}
	if !o.Good() && !o.Elsewhere {
		v = p.p.Rules.Classify(p.loop.ctx, o)
	}
	p.tellLimiter(place, p.sent, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || p.deadline.IsZero() || o.Hint.Wait < time.Until(p.deadline))
}

// tellLimiter tells the limiter what the answer to a request said, if it is of use to it.
func (s *source) tellLimiter(name string, sent time.Time, o *status.Observation, v status.Verdict) {
	refused := v.Status == status.Throttled
	if o.Stopped() || o.Elsewhere || !refused && o.Quota == nil {
		return
	}
	r := Result{Sent: sent, Refused: refused, Reason: v.Reason}
	if refused && o.Hint != nil {
		r.Wait, r.Reason = o.Hint.Wait, o.Hint.Source
	}
	if o.Quota != nil {
		r.Remaining, r.Reset = o.Quota.Remaining, o.Quota.Reset
	}
	if !refused {
		r.Reason = "nothing remains of its rate limit"
	}
	s.loop.Limiter.Done(name, r)
}

// closedSpread is how much longer than it asked for a place stays closed at most, as a share
// of that: others who were told the same begin again at once.
const closedSpread = 0.1

// A Pacer is a [Limiter] in memory: it spaces the requests of one process. What an idle place
// could have had is not saved up: its next request may go now, and the one after that when
// the rate allows it.
//
// A refusal cuts the rate to half of what was sent. From second to second it doubles up to
// where it was refused, and then grows slowly.
//
// The zero value lets everything through until a request is refused.
type Pacer struct {
	// PerSecond is the highest rate at each place, in requests a second. 0 means no limit
	// until a request is refused.
	PerSecond float64
	// Known says that PerSecond is what the places allow, and not a guess. 95% of it are used
	// then: a server counts requests as they arrive, and some of them arrive closer together
	// than they were sent.
	Known bool
	// Rand is the source of all jitter. Nil means one seeded at random.
	Rand *rand.Rand

	mu     sync.Mutex
	began  time.Time
	places map[string]*pacedPlace
}

// A paced place is what a Pacer knows of a place.
type pacedPlace struct {
	pace.Record
	pace.Given
	reason string // of its closing
}

// Next returns when the next request may go to a place.
func (p *Pacer) Next(name string, had time.Time) (at time.Time, closed string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := p.at(name)
	slot, _ := s.Again(&s.Record, p.rules(), now, p.micros(had))
	s.Keep(now, slot.At, slot)
	if s.Closed > now {
		closed = s.reason
	}
	return p.began.Add(time.Duration(slot.At-p.began.UnixMicro()) * time.Microsecond), closed
}

// Done tells what came of a request. A place stays closed for up to a tenth longer than it
// asked for.
func (p *Pacer) Done(name string, result Result) {
	if !result.Refused && result.Reset <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := p.at(name)
	wait := float64(result.Wait.Microseconds()) * (1 + closedSpread*p.random())
	if s.Learn(p.rules(), now, pace.Result{
		Sent: p.micros(result.Sent), Refused: result.Refused, Wait: int64(min(wait, pace.Forever)),
		Remaining: result.Remaining, Reset: result.Reset.Microseconds(),
	}) {
		s.reason = result.Reason
	}
}

func (p *Pacer) at(name string) (s *pacedPlace, now int64) {
	if p.places == nil {
		p.places, p.began = map[string]*pacedPlace{}, time.Now()
	}
	if s = p.places[name]; s == nil {
		s = &pacedPlace{Given: pace.Given{}}
		p.places[name] = s
	}
	now = p.micros(time.Now())
	s.Settle(p.rules(), now)
	return s, now
}

func (p *Pacer) rules() pace.Rules { return pace.NewRules(p.PerSecond, p.Known, 1, pace.Forever) }

// micros returns a time in microseconds, without regard to somebody who sets the clock.
func (p *Pacer) micros(t time.Time) int64 {
	return p.began.UnixMicro() + t.Sub(p.began).Microseconds()
}

func (p *Pacer) random() float64 {
	if p.Rand == nil {
		return rand.Float64()
	}
	return p.Rand.Float64()
}
