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
	// farthest is the longest time that a record from another process can make this process wait. Records are
	// kept for longer.
	farthest = time.Hour
	// maxProcesses limits the number of processes that a shared record can report.
	maxProcesses = 10_000
	// startShare is the initial rate as a share of PerSecond, if the rate is not known.
	startShare = 0.25
)

// A limit is the record that the processes share, about one origin or about several origins with a common
// limit.
type limit struct {
	pace.Record
	processes
}

// An origin is this process's own record of one origin. The times of its slots (times to send one request) are
// on this process's clock, not on the store's clock.
type origin struct {
	key  string
	used time.Time // time of the last call for this origin; guarded by Fleet.mu

	lock chan struct{} // held by one goroutine at a time; guards the fields below, and the calls of the store
	pace.Given
	shared limit       // the last record read from the store
	read   time.Time   // time at which shared was current; zero before the first read
	window int64       // last counting window in which this process was counted
	reason string      // human-readable reason why the origin accepts no requests
	alone  *poll.Pacer // limiter for this process alone, while the store is down; otherwise nil
}

// Next implements [poll.Limiter].
func (f *Fleet) Next(name string, had time.Time) (at time.Time, closed string) {
	o := f.origin(name)
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	var slot pace.Slot
	var same, isClosed bool
	if !o.change(f, func(l *limit, now int64) {
		slot, same = o.Again(&l.Record, f.rules, now, had.UnixMicro())
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
	return at, cmp.Or(o.reason, "a server asked another process to wait")
}

// Done implements [poll.Limiter].
func (f *Fleet) Done(name string, result poll.Feedback) {
	if !result.Refused && result.Reset <= 0 {
		return
	}
	o := f.origin(name)
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	var closed bool
	if !o.change(f, func(l *limit, now int64) {
		closed = l.Learn(f.rules, now, pace.Result{
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

// origin returns the origin called name. It creates a missing origin, and occasionally removes origins that
// have not been used for a long time.
func (f *Fleet) origin(name string) *origin {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.origins[name]
	if o == nil {
		if len(f.origins)%100 == 99 {
			maps.DeleteFunc(f.origins, func(_ string, o *origin) bool { return time.Since(o.used) > recordTTL })
		}
		o = &origin{key: f.key("limit-", f.limitOf(name)), lock: make(chan struct{}, 1), Given: pace.Given{}}
		f.origins[name] = o
	}
	o.used = time.Now()
	return o
}

// limitOf returns a string that identifies the limit of the origin called name. Origins that share a limit have
// the same string.
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

// change updates the shared limit to the current time, and then calls step with the limit. It returns false if
// the store cannot be used.
func (o *origin) change(f *Fleet, step func(l *limit, now int64)) (shared bool) {
	var next limit
	shared = f.change(o.key, func(l *limit, now int64) {
		if l.V == 0 && !o.read.IsZero() { // the store has lost the record: restore it, and make earlier slots invalid
			*l = o.at(now)
			l.Void(now)
		}
		l.Settle(f.rules, now)
		l.count(now, o.window)
		step(l, now)
		next, next.Seen = *l, now
	})
	if shared {
		o.shared, o.read, o.window, o.alone = next, time.Now(), next.Window, nil
	}
	return shared
}

// at returns the last shared record with its times converted to another clock, whose current time is now.
func (o *origin) at(now int64) limit {
	l := o.shared
	by := now - l.Seen - time.Since(o.read).Microseconds()
	l.Next, l.Closed, l.Since, l.Reset, l.Seen = l.Next+by, l.Closed+by, l.Since+by, l.Reset+by, now
	return l
}

// pacer returns the limiter for this process alone, used while the store is down. Its rate is this process's
// equal share of the last shared rate. It starts with a random delay, so that the processes do not send their
// requests at the same moments.
func (o *origin) pacer(r pace.Rules, name string) *poll.Pacer {
	if o.alone != nil {
		return o.alone
	}
	now := time.Now().UnixMicro()
	l := o.at(now)
	l.Settle(r, now)
	opens := max(now, l.Closed)
	o.alone = &poll.Pacer{PerSecond: l.Rate(r, opens) / l.number()}
	wait := micros(opens - now)
	if l.number() > 1 && o.alone.PerSecond > 0 {
		wait += time.Duration(rand.Float64() * float64(time.Second) / o.alone.PerSecond)
	}
	o.alone.Done(name, poll.Feedback{Reset: wait, Reason: o.reason})
	return o.alone
}

// micros returns n microseconds as a Duration.
func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// processes estimates how many processes share a limit.
type processes struct {
	// Window is the number of the current counting window.
	Window int64   `json:"window"`
	Here   float64 `json:"here"`   // number of processes counted in the current window
	Before float64 `json:"before"` // number of processes counted in the previous window
}

// window is the length of a counting window in microseconds. Each process counts itself once per window.
const window = 30_000_000

// count counts this process in the current window, unless last is the number of that window: the process has
// then been counted already. now is the current time.
func (p *processes) count(now, last int64) {
	if w := now / window; w != p.Window {
		if p.Before = p.Here; w != p.Window+1 {
			p.Before = 0
		}
		p.Window, p.Here = w, 0
	}
	if last != p.Window {
		p.Here++
	}
}

// number returns the estimated number of processes, at least 1 and at most maxProcesses.
func (p *processes) number() float64 { return min(max(1, p.Here, p.Before), maxProcesses) }
