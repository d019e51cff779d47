package poll

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/pace"
)

// A Limiter decides when requests may be sent to an origin, so that all clients together stay within the limit
// of the origin: the targets of a [Group] and, if the Limiter is shared with other processes, their targets. Its
// methods may be called from several goroutines.
//
// No method returns an error. A Limiter that needs a server waits for the server for a limited time, and then
// decides alone.
type Limiter interface {
	// Next returns the time when the next request may be sent to origin: now or later. had is the result of an
	// earlier call of Next for the same request, zero for the first call. Next returns had again if had is still
	// valid, and a later time otherwise. closed is the reason why the origin gets no request before that time, if
	// the origin has requested a pause; it is "" if the request only waits for its turn.
	Next(origin string, had time.Time) (at time.Time, closed string)
	// Done reports the outcome of a request that was refused, or whose response names a remaining quota.
	Done(origin string, f Feedback)
}

// A Feedback is the outcome of a request, as a [Limiter] needs it.
type Feedback struct {
	Sent    time.Time     // when the request was sent; a request from before the last refusal gives no new information
	Refused bool          // because of load
	Wait    time.Duration // the wait that the response requests; 0 without a request
	Reason  string        // why the origin is closed, for people
	// Remaining is the number of requests that are allowed until Reset has passed. It has no meaning if Reset is 0.
	Remaining int
	Reset     time.Duration
}

// closes returns the time until the next request may be sent: Wait or, if no request remains, at least Reset.
func (f Feedback) closes() time.Duration {
	if f.Remaining > 0 {
		return f.Wait
	}
	return max(f.Wait, f.Reset)
}

// closedSpread limits the random extra time for which an origin stays closed, as a share of the requested time.
// It keeps clients that got the same response from returning at the same moment.
const closedSpread = 0.1

// forgetAfter is how long a Pacer keeps the record of an idle origin.
const forgetAfter = 2 * time.Hour

// A Pacer is a [Limiter] in memory: it spaces the requests of one process. An idle origin saves up no requests:
// the next request may be sent now, and the request after it when the rate allows.
//
// A refusal cuts the rate to half of the rate at which requests were sent. Then the rate doubles every second up
// to the rate that was refused, and grows slowly from there.
//
// The zero value delays no request until a request is refused. All methods may be called from several
// goroutines.
type Pacer struct {
	// PerSecond is the highest rate for each origin, in requests per second. 0 or less means no limit until a
	// request is refused.
	PerSecond float64
	// Known is true if PerSecond is the limit that the origins enforce, and not a guess. The Pacer then uses 95% of
	// the limit: a server counts requests as they arrive, and some requests arrive closer together than they were
	// sent.
	Known bool
	// Rand is the source of all jitter. Nil means a source with a random seed.
	Rand *rand.Rand

	mu      sync.Mutex
	began   time.Time
	origins map[string]*pacedOrigin
}

// A pacedOrigin is the record of a Pacer for one origin.
type pacedOrigin struct {
	pace.Record
	pace.Given
	reason string // why the origin is closed
}

// Next returns the time when the next request may be sent to the origin with a name, see [Limiter].
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

// Done reports the outcome of a request, see [Limiter]. An origin stays closed for up to a tenth longer than f
// requests. Done ignores an outcome that is neither a refusal nor a quota.
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

func (p *Pacer) at(name string) (s *pacedOrigin, now int64) {
	if p.origins == nil {
		p.origins, p.began = map[string]*pacedOrigin{}, time.Now()
	}
	now = p.micros(time.Now())
	if s = p.origins[name]; s == nil {
		if len(p.origins)%100 == 99 {
			maps.DeleteFunc(p.origins, func(_ string, s *pacedOrigin) bool {
				return max(s.Seen, s.Next, s.Closed, s.Reset) < now-forgetAfter.Microseconds()
			})
		}
		s = &pacedOrigin{Given: pace.Given{}}
		p.origins[name] = s
	}
	s.Settle(p.rules(), now)
	return s, now
}

func (p *Pacer) rules() pace.Rules { return pace.NewRules(p.PerSecond, p.Known, 1, pace.Forever) }

// micros returns t in microseconds since the Unix epoch. The result ignores changes of the system clock after
// p.began.
func (p *Pacer) micros(t time.Time) int64 {
	return p.began.UnixMicro() + t.Sub(p.began).Microseconds()
}

func (p *Pacer) random() float64 {
	if p.Rand == nil {
		return rand.Float64()
	}
	return p.Rand.Float64()
}
