package poll

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/pace"
)

// A Limiter says when requests may go to a place, so that all its clients stay within its
// limit: the targets of a [Group], and other processes if the Limiter is shared with them. It
// may be used from several goroutines.
//
// No call fails. A Limiter that has to ask elsewhere takes as long as that takes, within
// bounds of its own, and goes on alone where it gets no answer.
type Limiter interface {
	// Next returns when the next request may go to a place: now, or later. had is the time
	// that Next returned for this same request before, zero for none. Next returns had again if it is
	// still valid, and a later time if not. closed says in words why nothing may go until then,
	// if the place has asked for that; "" means that it is only the turn of others.
	Next(place string, had time.Time) (at time.Time, closed string)
	// Done reports the outcome of a request, if it was refused or its answer says what
	// remains.
	Done(place string, f Feedback)
}

// A Feedback is the outcome of a request, as a [Limiter] needs it.
type Feedback struct {
	Sent    time.Time     // when it was sent: one from before the last refusal says nothing new
	Refused bool          // for load
	Wait    time.Duration // that the answer asks for, 0 = none
	Reason  string        // what asks for it, in words
	// Remaining requests are allowed until Reset has passed, if Reset is not 0.
	Remaining int
	Reset     time.Duration
}

// closes returns the time until the next request may go.
func (f Feedback) closes() time.Duration {
	if f.Remaining > 0 {
		return f.Wait
	}
	return max(f.Wait, f.Reset)
}

// closedSpread is how much longer than it asked for a place stays closed at most, as a share
// of that: others who were told the same begin again at once.
const closedSpread = 0.1

// forgetAfter is how long a Pacer keeps the record of an idle place.
const forgetAfter = 2 * time.Hour

// A Pacer is a [Limiter] in memory: it spaces the requests of one process. An idle place
// saves nothing up: its next request may go now, and the one after that when the rate
// allows it.
//
// A refusal cuts the rate to half of what was sent. From second to second it doubles up to
// where it was refused, and then grows slowly.
//
// The zero value lets everything through until a request is refused.
type Pacer struct {
	// PerSecond is the highest rate at each place, in requests a second. 0 or less means no limit
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

// Done reports the outcome of a request. A place stays closed for up to a tenth longer than
// it asked for.
func (p *Pacer) Done(name string, f Feedback) {
	if !f.Refused && f.Reset <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := p.at(name)
	wait := float64(f.Wait.Microseconds()) * (1 + closedSpread*p.random())
	if s.Learn(p.rules(), now, pace.Result{
		Sent: p.micros(f.Sent), Refused: f.Refused, Wait: int64(min(wait, pace.Forever)),
		Remaining: f.Remaining, Reset: f.Reset.Microseconds(),
	}) {
		s.reason = f.Reason
	}
}

func (p *Pacer) at(name string) (s *pacedPlace, now int64) {
	if p.places == nil {
		p.places, p.began = map[string]*pacedPlace{}, time.Now()
	}
	now = p.micros(time.Now())
	if s = p.places[name]; s == nil {
		if len(p.places)%100 == 99 {
			maps.DeleteFunc(p.places, func(_ string, s *pacedPlace) bool {
				return max(s.Seen, s.Next, s.Closed, s.Reset) < now-forgetAfter.Microseconds()
			})
		}
		s = &pacedPlace{Given: pace.Given{}}
		p.places[name] = s
	}
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
