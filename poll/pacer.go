package poll

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/pace"
)

// A Limiter decides when a request may be sent to an origin, so that all clients together stay within the
// origin's limit. The clients are the targets of a [Group] and, if other processes share the Limiter, their
// targets, too. The methods may be called concurrently.
//
// The methods return no errors. A Limiter that depends on a server waits for that server for a limited time,
// and then decides on its own.
type Limiter interface {
	// Next returns the time (now or later) at which the next request may be sent to origin. In the first call
	// for a request, had is zero. In further calls for the same request, had is the result of the previous
	// call: Next returns had again if that time is still valid, and a later time otherwise. If the origin
	// requested a pause, closed is a human-readable reason. If the request only waits for its turn, closed is
	// "".
	Next(origin string, had time.Time) (at time.Time, closed string)
	// Done reports the outcome of a request that the server rejected because of load, or whose response reports
	// a quota (a number of remaining requests).
	Done(origin string, f Feedback)
}

// A Feedback describes the outcome of a request for a [Limiter].
type Feedback struct {
	Sent    time.Time     // time of the request; a rejection does not lower the rate if the request was sent before the rate was last lowered
	Refused bool          // whether the server rejected the request because of load
	Wait    time.Duration // wait that the response requests; 0 if it requests none
	Reason  string        // human-readable reason why the origin accepts no requests for now
	// Remaining is the number of further requests that the origin allows until its quota is renewed. Reset is
	// the time until the renewal. If Reset is 0, Remaining has no meaning.
	Remaining int
	Reset     time.Duration
}

// closes returns how long the origin accepts no requests: Wait, or the longer of Wait and Reset if no requests
// remain.
func (f Feedback) closes() time.Duration {
	if f.Remaining > 0 {
		return f.Wait
	}
	return max(f.Wait, f.Reset)
}

// closedSpread is the maximum random time added to a requested pause, as a share of the pause. It prevents
// clients that received the same response from returning at the same moment.
const closedSpread = 0.1

// forgetAfter is how long a Pacer remembers an origin that receives no requests.
const forgetAfter = 2 * time.Hour

// A Pacer is a [Limiter] that keeps its state in memory, and so spaces out the requests of one process. Unused
// time is not saved up: after a long break one request may be sent immediately, but the following request has
// to wait as usual.
//
// When an origin rejects a request because of load, the Pacer reduces the rate to half of the rate at which
// requests were sent. The rate then doubles every second until it reaches about the rejected rate, and grows
// slowly from there.
//
// The zero value delays no request until an origin rejects one. All methods may be called concurrently.
type Pacer struct {
	// PerSecond is the maximum rate for each origin, in requests per second. If it is 0, negative or NaN, there is
	// no limit until a request is rejected.
	PerSecond float64
	// Known is true if the origins enforce exactly PerSecond, and false if PerSecond is a guess. With Known,
	// the Pacer uses only 95% of the rate, because some requests arrive closer together than they were sent.
	Known bool
	// Rand is the source of randomness for all delays. Nil means a randomly seeded source.
	Rand *rand.Rand

	mu      sync.Mutex
	began   time.Time
	origins map[string]*pacedOrigin
}

// A pacedOrigin is a Pacer's record of one origin.
type pacedOrigin struct {
	pace.Record
	pace.Given
	reason string // human-readable reason why the origin accepts no requests
}

// Next implements [Limiter]. The argument name is the name of the origin.
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

// Done implements [Limiter]. The argument name is the name of the origin. A wait that f requests is extended by
// a random share of up to a tenth. Done does nothing if f is neither a rejection nor a quota.
func (p *Pacer) Done(name string, f Feedback) {
	if !f.Refused && f.Reset <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := p.at(name)
	random := rand.Float64
	if p.Rand != nil {
		random = p.Rand.Float64
	}
	wait := float64(f.Wait.Microseconds()) * (1 + closedSpread*random())
	if s.Learn(p.rules(), now, pace.Result{
		Sent: p.micros(f.Sent), Refused: f.Refused, Wait: int64(min(wait, pace.Forever)),
		Remaining: f.Remaining, Reset: f.Reset.Microseconds(),
	}) {
		s.reason = f.Reason
	}
}

// at returns the record of the origin called name, updated to the current time, and the current time in
// microseconds. It creates a missing record, and occasionally removes records of idle origins.
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

// rules returns the settings of p in the form that package pace needs.
func (p *Pacer) rules() pace.Rules { return pace.NewRules(p.PerSecond, p.Known, 1, pace.Forever) }

// micros returns t as microseconds since the Unix epoch. It follows the monotonic clock, so changes of the
// system clock after p's first use do not affect the result.
func (p *Pacer) micros(t time.Time) int64 {
	return p.began.UnixMicro() + t.Sub(p.began).Microseconds()
}
