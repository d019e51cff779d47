package fleet

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/pace"
)

const (
	// farthest is how far ahead anything is believed that others may have written. Records live
	// longer.
	farthest = time.Hour
	// freeFor is how long a place without a limit is taken for free, without a look at the store.
	freeFor = 20 * time.Millisecond
	// maxMembers is how many processes are believed at most.
	maxMembers = 10_000
	// startShare is the share of a rate that is not known with which a place begins.
	startShare = 0.25
)

// A limit is the shared record of an origin.
type limit struct {
	pace.Record
	members
}

// An origin is the state of a place in this process. Times of slots are by the clock of this process.
type origin struct {
	key  string
	used time.Time // guarded by Fleet.mu

	turn chan struct{} // whoever has it may use what follows, and ask the store
	pace.Given
	shared    limit     // as it was last
	refreshed time.Time // when that was, zero for never
	window    int64     // that of the last heartbeat
	reason    string    // of its closing

	fallback  *poll.Pacer // while the store is away
	uncounted float64     // requests since refreshed, where there is no limit
}

// Next returns when the next request may go to a place.
func (f *Fleet) Next(name string, had time.Time) (at time.Time, closed string) {
	o := f.origin(name)
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if o.shared.Free() && time.Since(o.refreshed) < freeFor {
		o.uncounted++
		return time.Now(), ""
	}
	var slot pace.Slot
	var same, isClosed bool
	if !o.change(f, func(l *limit, r pace.Rules, now int64) {
		slot, same = o.Again(&l.Record, r, now, had.UnixMicro())
		at, isClosed = time.Now().Add(micros(slot.At-now)), l.Closed > now
	}) {
		return o.pacer(f.rules, name).Next(name, had)
	}
	if same {
		at = had
	}
	o.Keep(time.Now().UnixMicro(), at.UnixMicro(), slot)
	if !isClosed {
		o.reason = ""
		return at, ""
	}
	return at, cmp.Or(o.reason, "another process was told to wait")
}

// Done reports the outcome of a request.
func (f *Fleet) Done(name string, result poll.Feedback) {
	if !result.Refused && result.Reset <= 0 {
		return
	}
	o := f.origin(name)
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	var closed bool
	if !o.change(f, func(l *limit, r pace.Rules, now int64) {
		closed = l.Learn(r, now, pace.Result{
			Sent: now - time.Since(result.Sent).Microseconds(), Refused: result.Refused, Wait: result.Wait.Microseconds(),
			Remaining: result.Remaining, Reset: result.Reset.Microseconds(),
		})
	}) {
		o.pacer(f.rules, name).Done(name, result)
	}
	if closed {
		o.reason = result.Reason
	}
}

func (f *Fleet) origin(name string) *origin {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.origins[name]
	if o == nil {
		if len(f.origins)%100 == 99 {
			maps.DeleteFunc(f.origins, func(_ string, o *origin) bool { return time.Since(o.used) > life })
		}
		o = &origin{key: f.key("limit-", f.limitOf(name)), turn: make(chan struct{}, 1), Given: pace.Given{}}
		f.origins[name] = o
	}
	o.used = time.Now()
	return o
}

// limitOf returns the text that tells the limit of a place from others.
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

// change takes a step on the limit. It reports false without the store.
func (o *origin) change(f *Fleet, step func(*limit, pace.Rules, int64)) (shared bool) {
	var next limit
	var counted int64
	if shared = f.change(o.key, func(l *limit, now int64) {
		if l.V == 0 && !o.refreshed.IsZero() { // it was lost: a slot of before is void
			*l = o.moved(now)
			l.Void(now)
		}
		l.Settle(f.rules, now)
		l.Sent += o.uncounted
		counted = l.heartbeat(now, o.window)
		step(l, f.rules, now)
		next, next.Seen = *l, now
	}); shared {
		o.shared, o.refreshed, o.window, o.fallback, o.uncounted = next, time.Now(), counted, nil, 0
	}
	return shared
}

// moved returns the last shared limit as it is at a time of another clock.
func (o *origin) moved(now int64) limit {
	rec := o.shared
	by := now - rec.Seen - time.Since(o.refreshed).Microseconds()
	rec.Next, rec.Closed, rec.Since, rec.Reset = rec.Next+by, rec.Closed+by, rec.Since+by, rec.Reset+by
	rec.Seen = now
	return rec
}

// pacer returns a limiter for the requests of this process without the store. It gets an equal share of
// the last shared rate, and starts at a random offset.
func (o *origin) pacer(r pace.Rules, name string) *poll.Pacer {
	if o.fallback != nil {
		return o.fallback
	}
	now := time.Now().UnixMicro()
	l := o.moved(now)
	l.Settle(r, now)
	opens := max(now, l.Closed)
	o.fallback = &poll.Pacer{PerSecond: l.Rate(r, opens) / l.size()}
	wait := micros(opens - now)
	if l.size() > 1 && o.fallback.PerSecond > 0 {
		wait += time.Duration(rand.Float64() * float64(time.Second) / o.fallback.PerSecond)
	}
	o.fallback.Done(name, poll.Feedback{Reset: wait, Reason: o.reason})
	return o.fallback
}

// micros returns a number of microseconds.
func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// Members estimate how many processes share a limit.
type members struct {
	Window int64   `json:"window"`
	Here   float64 `json:"here"`   // processes of this window
	Before float64 `json:"before"` // of the one before
}

const window = 30_000_000 // microseconds

// heartbeat counts a process once in each window; last is the window in which it was counted before.
// It returns the window.
func (m *members) heartbeat(now, last int64) (counted int64) {
	if w := now / window; w != m.Window {
		if m.Before = m.Here; w != m.Window+1 {
			m.Before = 0
		}
		m.Window, m.Here = w, 0
	}
	if last != m.Window {
		m.Here++
	}
	return m.Window
}

func (m *members) size() float64 { return min(max(1, m.Here, m.Before), maxMembers) }
