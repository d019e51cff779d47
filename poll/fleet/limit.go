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
	// farthest is the longest wait that a record of another process can cause. Records live longer.
	farthest = time.Hour
	// maxProcesses is the largest number of processes in a record that counts.
	maxProcesses = 10_000
	// startShare is the initial share of an unknown rate.
	startShare = 0.25
)

// A limit is the shared record of an origin.
type limit struct {
	pace.Record
	processes
}

// An origin is the state of an origin in this process. Times of slots are by the clock of this process.
type origin struct {
	key  string
	used time.Time // guarded by Fleet.mu

	lock chan struct{} // guards the fields below, and calls of the store
	pace.Given
	shared limit       // the last record
	read   time.Time   // when shared was current; zero before the first read
	window int64       // the last window that counts this process
	reason string      // why the origin is closed
	alone  *poll.Pacer // while the store is down
}

// Next returns when the next request may go to an origin.
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
	return at, cmp.Or(o.reason, "another process was told to wait")
}

// Done reports the outcome of a request.
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

// limitOf returns a string that distinguishes the limit of an origin from other limits.
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

// change applies a step to the shared limit. It returns false if the store cannot be used.
func (o *origin) change(f *Fleet, step func(l *limit, now int64)) (shared bool) {
	var next limit
	shared = f.change(o.key, func(l *limit, now int64) {
		if l.V == 0 && !o.read.IsZero() { // the store has lost the record: earlier slots are void
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

// at returns the last record, with its times moved to a time of another clock.
func (o *origin) at(now int64) limit {
	l := o.shared
	by := now - l.Seen - time.Since(o.read).Microseconds()
	l.Next, l.Closed, l.Since, l.Reset, l.Seen = l.Next+by, l.Closed+by, l.Since+by, l.Reset+by, now
	return l
}

// pacer returns a limiter for the requests of this process without the store. Its rate is an equal share of
// the last shared rate, and its first slot is at a random offset.
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

// micros returns a number of microseconds.
func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// processes estimate how many processes share a limit.
type processes struct {
	Window int64   `json:"window"`
	Here   float64 `json:"here"`   // processes in this window
	Before float64 `json:"before"` // processes in the window before
}

// window is the length of a counting window in microseconds. A process counts once in each window.
const window = 30_000_000

// count counts a process in the current window. last is the window that counted the process before.
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

func (p *processes) number() float64 { return min(max(1, p.Here, p.Before), maxProcesses) }
