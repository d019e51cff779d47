package fleet

import (
	"cmp"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/pace"
)

const (
	// farthest is how far ahead anything is believed that others may have written. Records live
	// longer.
	farthest = time.Hour
	// startShare is the share of a rate that is not known with which a place begins.
	startShare = 0.25
)

// A limit is what is shared of a place.
type limit struct {
	pace.Record
	crowd
}

func (l limit) isValid() bool { return l.Valid() }

// A place is what this process knows of a place. Times of slots are this process's.
type place struct {
	key    string
	joined time.Time

	mu sync.Mutex
	pace.Given
	told   limit     // what all share
	heard  time.Time // when that was told, zero for never
	window int64     // the last one that was signed in to
	reason string    // of its closing

	alone *poll.Pacer // while the store is away
}

// Next returns when the next request may go to a place.
func (f *Fleet) Next(name string, had time.Time) (at time.Time, closed string) {
	p := f.place(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	var slot pace.Slot
	var same, isClosed bool
	if !p.change(f, func(l *limit, r pace.Rules, now int64) {
		slot, same = p.Again(&l.Record, r, now, had.UnixMicro())
		at, isClosed = time.Now().Add(micros(slot.At-now)), l.Closed > now
	}) {
		return p.pacer(f.rules, name).Next(name, had)
	}
	if same {
		at = had
	}
	p.Keep(time.Now().UnixMicro(), at.UnixMicro(), slot)
	if !isClosed {
		p.reason = ""
		return at, ""
	}
	return at, cmp.Or(p.reason, "another process was told to wait")
}

// Done tells what came of a request.
func (f *Fleet) Done(name string, result poll.Feedback) {
	if !result.Refused && result.Reset <= 0 {
		return
	}
	p := f.place(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	var closed bool
	if !p.change(f, func(l *limit, r pace.Rules, now int64) {
		closed = l.Learn(r, now, pace.Result{
			Sent: now - time.Since(result.Sent).Microseconds(), Refused: result.Refused, Wait: result.Wait.Microseconds(),
			Remaining: result.Remaining, Reset: result.Reset.Microseconds(),
		})
	}) {
		p.pacer(f.rules, name).Done(name, result)
	}
	if closed {
		p.reason = result.Reason
	}
}

// hear registers this process at a place and refreshes its limit. The requests of the process do the
// same, but others may make all of them.
func (f *Fleet) hear(name string) {
	p := f.place(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.heard) > min(micros(window)/2, time.Since(p.joined)/2) { // at first more and more join
		p.change(f, func(*limit, pace.Rules, int64) {})
	}
}

func (f *Fleet) place(name string) *place {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.places[name]
	if p == nil {
		p = &place{key: f.key("limit-", f.limitOf(name)), joined: time.Now(), Given: pace.Given{}}
		f.places[name] = p
	}
	return p
}

// limitOf returns what tells the limit of a place from others.
func (f *Fleet) limitOf(name string) string {
	if f.o.Name != "" {
		return "name " + f.o.Name
	}
	text := "place " + name
	if u, err := url.Parse(name); err == nil && connect.IsLoopback(u.Hostname()) {
		text += "\x00" + connect.Machine()
	}
	if f.o.Key != nil {
		text += "\x00" + f.o.Key(name)
	}
	return text
}

// change takes a step on the limit that all request. It reports false without the store.
func (p *place) change(f *Fleet, step func(*limit, pace.Rules, int64)) (shared bool) {
	var told limit
	var signed int64
	u := rand.Float64()
	if shared = change(f, p.key, func(l *limit, now int64) {
		if l.V == 0 && !p.heard.IsZero() { // it was lost: who has a slot takes another
			*l = p.moved(now)
			l.Void(now)
		}
		l.Settle(f.rules, now)
		signed = l.signIn(now, p.window, u)
		step(l, f.rules, now)
		told, told.Seen = *l, now
	}); shared {
		p.told, p.heard, p.window, p.alone = told, time.Now(), signed, nil
	}
	return shared
}

// moved returns what was told as it is at a time of another clock.
func (p *place) moved(now int64) limit {
	rec := p.told
	by := now - rec.Seen - time.Since(p.heard).Microseconds()
	rec.Next, rec.Closed, rec.Since, rec.Reset = rec.Next+by, rec.Closed+by, rec.Since+by, rec.Reset+by
	rec.Seen = now
	return rec
}

// pacer returns what spaces the requests of this process without the store. It gets an equal share of
// the last shared rate, and starts at a random offset.
func (p *place) pacer(r pace.Rules, name string) *poll.Pacer {
	if p.alone != nil {
		return p.alone
	}
	now := time.Now().UnixMicro()
	l := p.moved(now)
	l.Settle(r, now)
	opens := max(now, l.Closed)
	p.alone = &poll.Pacer{PerSecond: l.Rate(r, opens) / l.size()}
	wait := micros(opens - now)
	if l.size() > 1 && p.alone.PerSecond > 0 {
		wait += time.Duration(rand.Float64() * float64(time.Second) / p.alone.PerSecond)
	}
	p.alone.Done(name, poll.Feedback{Reset: wait, Reason: p.reason})
	return p.alone
}

// micros returns a number of microseconds.
func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// A crowd counts the processes that have a limit.
type crowd struct {
	Window int64   `json:"window"`
	Here   float64 `json:"here"`   // processes of this window
	Before float64 `json:"before"` // of the one before
}

const (
	window    = 30_000_000 // microseconds
	signers   = 50         // about as many processes sign in
	mostCrowd = 10_000
)

// signIn counts a process, once in each window. Of many only some sign, each for several, or
// they would do nothing else: u is between 0 and 1.
func (c *crowd) signIn(now, last int64, u float64) (signed int64) {
	if w := now / window; w != c.Window {
		if c.Before = c.Here; w != c.Window+1 {
			c.Before = 0
		}
		c.Window, c.Here = w, 0
	}
	if each := max(1, c.size()/signers); last != c.Window && u*each < 1 {
		c.Here += each
	}
	return c.Window
}

func (c *crowd) size() float64 { return min(max(1, c.Here, c.Before), mostCrowd) }
