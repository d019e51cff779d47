package fleet

import (
	"cmp"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/pace"
	"github.com/pollcli/poll/poll/internal/share"
)

const (
	// farthest is how far ahead anything is believed that others may have written. Records live
	// longer.
	farthest = time.Hour
	// startShare is the share of a rate that is not known with which a place begins.
	startShare = 0.25
)

// A Limiter spaces the requests of all processes of a [Fleet] together, as a Pacer does those
// of one; but nothing is believed for longer than an hour. While the store is away, a process
// has its share of the last rate that it was told.
//
// A call takes half a second at most, and two seconds at the beginning.
type Limiter struct {
	Fleet *Fleet
	// PerSecond and Known are as in a Pacer, for all processes together. A rate that is not
	// known begins with a quarter.
	PerSecond float64
	Known     bool
	// Name says whose limit it is. All with the same name keep to one, at whatever place.
	// Without a name each place has a limit, and a loopback address one for each machine.
	Name string
	// Key returns what else makes a limit at a place, such as the credentials that are sent
	// there; nil means nothing. It is not called if there is a Name.
	Key func(place string) string

	mu     sync.Mutex
	places map[string]*place
}

// A limit is what is shared of a place.
type limit struct {
	pace.Record
	crowd
}

func (l limit) isValid() bool      { return l.Valid() }
func (l *limit) processes() *crowd { return &l.crowd }

// A place is what this process knows of a place. Times of slots are this process's.
type place struct {
	key   string
	rules pace.Rules

	mu sync.Mutex
	pace.Given
	told   limit     // what all share
	heard  time.Time // when that was told, zero for never
	window int64     // the last one that was signed in to
	part   float64   // while alone: that of how many the rate is, otherwise 0
	reason string
}

// Next returns when the next request may go to a place.
func (l *Limiter) Next(name string, had time.Time) (at time.Time, closed string) {
	p := l.place(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	var slot pace.Slot
	var same, isClosed bool
	p.change(l.Fleet, func(rec *limit, r pace.Rules, now int64) {
		slot, same = p.Again(&rec.Record, r, now, had.UnixMicro())
		at, isClosed = time.Now().Add(micros(slot.At-now)), rec.Closed > now
	})
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
func (l *Limiter) Done(name string, result poll.Result) {
	if !result.Refused && result.Reset <= 0 {
		return
	}
	p := l.place(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	var closed bool
	p.change(l.Fleet, func(rec *limit, r pace.Rules, now int64) {
		closed = rec.Learn(r, now, pace.Result{
			Sent: now - time.Since(result.Sent).Microseconds(), Refused: result.Refused, Wait: pace.Micros(result.Wait),
			Remaining: result.Remaining, Reset: pace.Micros(result.Reset),
		})
	})
	if closed {
		p.reason = result.Reason
	}
}

func (l *Limiter) place(name string) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.places[name]; p != nil {
		return p
	}
	text := "name " + l.Name
	if l.Name == "" {
		text = "place " + name
		if u, err := url.Parse(name); err == nil && share.IsLoopback(u.Hostname()) {
			text += "\x00" + share.Machine()
		}
		if l.Key != nil {
			text += "\x00" + l.Key(name)
		}
	}
	if l.places == nil {
		l.places = map[string]*place{}
	}
	p := &place{
		key:   l.Fleet.key("limit-", text),
		rules: pace.NewRules(l.PerSecond, l.Known, startShare, farthest.Microseconds()),
		Given: pace.Given{},
	}
	l.places[name] = p
	return p
}

// change takes a step on the limit: that of all or, without the store, that of this process.
func (p *place) change(f *Fleet, do func(*limit, pace.Rules, int64)) {
	rec, shared := change(f, p.key, &p.window, func(rec *limit, now int64, shared bool) bool {
		if shared == (p.part > 0) { // the slots of one limit are none of the other
			clear(p.Given)
		}
		rules := p.rules
		switch {
		case !shared:
			if rec.V == 0 {
				*rec = p.alone(now, float64(f.waiters.Load()))
			}
			rules.Start, rules.Most = rules.Start/p.part, rules.Most/p.part
		case rec.V == 0 && !p.heard.IsZero(): // it was lost: who has a slot takes another
			*rec = p.moved(now)
			rec.Void(now)
		}
		rec.Settle(rules, now)
		before := *rec
		do(rec, rules, now)
		return *rec != before
	})
	if shared {
		p.told, p.heard, p.part = rec, time.Now(), 0
	}
}

// moved returns what was told as it is at a time of another clock.
func (p *place) moved(now int64) limit {
	rec := p.told
	by := now - rec.Seen - time.Since(p.heard).Microseconds()
	rec.Next, rec.Closed, rec.Since, rec.Reset = rec.Next+by, rec.Closed+by, rec.Since+by, rec.Reset+by
	rec.Seen = now
	return rec
}

// alone returns the part that this process has of what was told. The others begin theirs at
// other times.
func (p *place) alone(now int64, waiters float64) limit {
	rec := p.moved(now)
	rec.Settle(p.rules, now)
	p.part = max(rec.size(), waiters)
	rec.Since, rec.Sent = max(now, rec.Closed), 0
	rec.Base = rec.Rate(p.rules, rec.Since) / p.part
	rec.Peak, rec.Next = rec.Base, rec.Since
	if p.part > 1 && rec.Base > 0 {
		rec.Next += int64(rand.Float64() * 1e6 / rec.Base)
	}
	return rec
}
