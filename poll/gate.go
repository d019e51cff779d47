package poll

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

const (
	// clockSpread is by how much two readings of another clock may differ.
	clockSpread = 100 * time.Millisecond
	// slowAfter is how long an attempt counts for Parallel. A slower attempt, as at a host that hangs, counts
	// for its origin only, so that hosts that hang do not hold up all other origins.
	slowAfter = 5 * time.Second
	// maxSlow is how many slow attempts there are at most, as a multiple of Parallel.
	maxSlow = 3
)

// A gate limits how many attempts are made at once. An attempt passes three limits, in this order: the room of its
// origin, the limiter, and the workers of all origins.
type gate struct {
	origins map[string]*origin
	workers *semaphore.Weighted
	slow    *semaphore.Weighted // the attempts that have become slow
}

func newGate(parallel int) gate {
	return gate{
		origins: make(map[string]*origin),
		workers: semaphore.NewWeighted(int64(parallel)),
		slow:    semaphore.NewWeighted(maxSlow * int64(parallel)),
	}
}

// An origin is the origin of a URL, or a program. Attempts at one origin share its limits.
type origin struct {
	name  string
	most  int // how many attempts it gets at once, 0 for no limit
	room  *semaphore.Weighted
	line  line
	waits int       // how many waits have their next attempt here
	opens time.Time // the latest time of opening that was reported
}

// originOf returns the origin of the next attempt of a wait.
func (l *loop) originOf(w *wait) *origin {
	name := w.planned.Origin
	o := l.origins[name]
	if o == nil {
		o = &origin{name: name}
		if name != "" && l.ParallelOrigin != nil {
			o.most = max(0, l.ParallelOrigin(name))
		}
		o.room = semaphore.NewWeighted(cmp.Or(int64(o.most), math.MaxInt64))
		l.origins[name] = o
	}
	return o
}

// enter waits until an attempt may start, at most until ctx is done. It returns the function that ends the time of the attempt
// in the gate, and the pace of its requests. It reports false if the run or the wait ends first, or if a step would have to
// wait.
func (l *loop) enter(ctx context.Context, w *wait) (leave func(), pace *paced, ok bool) {
	o, isOwn := w.origin, w.p.Limiter != nil // the other waits of the origin do not wait for a limiter of its own
	if isOwn && !l.awaitSlot(ctx, w) || o.room.Acquire(ctx, 1) != nil {
		return nil, nil, false
	}
	if isOwn || l.awaitSlot(ctx, w) {
		if stop, err := l.work(ctx); err == nil {
			return sync.OnceFunc(func() {
				stop()
				o.room.Release(1)
			}), newPaced(w), true
		}
	}
	o.room.Release(1)
	return nil, nil, false
}

// awaitSlot waits until the limiter lets a request go to the origin of a wait. It reports false as enter does, and
// if the origin is closed until after the deadline.
func (l *loop) awaitSlot(ctx context.Context, w *wait) bool {
	for w.limiter != nil && w.origin.name != "" {
		var had time.Time
		if w.Reserved {
			had = w.Due
		}
		var closed string
		w.Due, closed = w.limiter.Next(w.origin.name, had)
		w.Reserved = true
		if !w.Due.After(time.Now()) {
			break
		}
		if ctx.Err() != nil || !l.hold(w, closed, time.Now()) || l.stepping {
			return false
		}
		sleepUntil(ctx, w.Due)
	}
	return ctx.Err() == nil
}

// hold emits that an attempt which is due has to wait for the limiter, or because its origin is closed for a reason. It
// reports false if the origin is closed until after the deadline.
func (l *loop) hold(w *wait, closed string, now time.Time) bool {
	defer l.lock()()
	e := w.event(EventWait, now)
	e.HeldBy = HeldByRate
	if o := w.origin; closed != "" {
		e.HeldBy = HeldByGate
		if w.Due.After(o.opens) {
			o.opens = w.Due.Add(clockSpread)
			l.emit(Event{Kind: EventOrigin, At: now, Elapsed: now.Sub(l.Start), Deadline: l.deadline,
				Origin: &ClosedOrigin{Name: o.name, ClosedUntil: w.Due, Reason: closed}})
		}
		if w.isDeadline(w.Due) {
			w.endClosed(closedFor(o.name, w.Due.Sub(now), closed))
			return false
		}
	}
	l.emit(e)
	return true
}

// work waits for a worker, and returns the function that releases the worker. An attempt that has become slow releases
// its worker early. At most maxSlow times Parallel attempts are slow; a further attempt keeps its worker.
func (g *gate) work(ctx context.Context) (stop func(), err error) {
	if err := g.workers.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	mu.Lock()
	defer mu.Unlock()
	held := g.workers // nil once the attempt has ended
	var slow *time.Timer
	slow = time.AfterFunc(slowAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case held == nil:
		case g.slow.TryAcquire(1):
			held.Release(1)
			held = g.slow
		default:
			slow.Reset(slowAfter)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		slow.Stop()
		held.Release(1)
		held = nil
	}, nil
}

// A paced attempt spaces its requests: each request takes a slot of the limiter. The gate has taken the slot of the
// first request to the origin of the attempt.
type paced struct {
	w       *wait
	clock   *clock                    // of the attempt, nil for no limit
	sent    atomic.Pointer[time.Time] // the last request; a probe that has others in it may make some at once
	visited sync.Map                  // the origins of the requests of this attempt
}

// newPaced returns the pace of the requests of an attempt; nil without a limiter. A probe without an origin may
// send requests, too.
func newPaced(w *wait) *paced {
	if w.limiter == nil {
		return nil
	}
	p := &paced{w: w}
	p.sent.Store(new(time.Now()))
	return p
}

// noteClosed handles an attempt that ended since an origin is closed. If the origin is closed until after the deadline, the
// targets end. Otherwise the time until it opens is the hint of o.
func (p *paced) noteClosed(o *status.Observation) {
	if !o.Stopped() {
		return
	}
	if c, ok := o.Failure.Err.(*closing); ok && p.w.isDeadline(time.Now().Add(c.Wait)) {
		p.w.endClosed(o.Failure.Reason)
	} else if ok {
		o.Hint = &c.Hint
	}
}

// Wait waits until a request may be sent to an origin. The first request to the attempt's own origin does not
// wait. Wait fails at the end of ctx, and at once if the origin is closed until after the deadline. It also fails if a
// redirect leads to an origin that is closed for longer than slowAfter: the waiting attempt would block the other targets of
// its own origin. An attempt that has sent a request to that origin before, as for another page of a list, waits.
func (p *paced) Wait(ctx context.Context, origin string) *status.Failure {
	_, again := p.visited.LoadOrStore(origin, true)
	if origin == p.w.origin.name && !again {
		return nil
	}
	defer p.clock.hold()()
	ends := p.w.planned.isHTTP && !again
	var slot time.Time
	for {
		var closed string
		slot, closed = p.w.limiter.Next(origin, slot)
		switch wait := time.Until(slot); {
		case ctx.Err() != nil:
			return meaning.Stopped(ctx, ErrAttemptTimeout.Error())
		case wait <= 0:
			p.sent.Store(new(time.Now()))
			return nil
		case closed != "" && (p.w.isDeadline(time.Now().Add(wait)) || ends && wait > slowAfter):
			return &status.Failure{Kind: status.FailureStopped, Reason: closedFor(origin, wait, closed), Err: &closing{status.Hint{Wait: wait, Source: closed}}}
		default:
			sleepUntil(ctx, slot)
		}
	}
}

// Done reports the response to a request to the limiter. It returns whether the request was refused
// for load and may be sent again before the deadline.
func (p *paced) Done(origin string, o status.Observation) (again bool) {
	v := status.Verdict{}
	if !o.Good() {
		v = p.w.p.Rules.Classify(p.w.run.ctx, o)
	}
	p.feedBack(origin, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || !p.w.isDeadline(time.Now().Add(o.Hint.Wait)))
}

// feedBack reports a refusal or a quota to the limiter: for the origin that returned the response and, unless
// a redirect led to another host, for the origin of the request. It returns the time for which the origin is
// closed, nil if the origin is open.
func (p *paced) feedBack(origin string, o *status.Observation, v status.Verdict) *limit {
	h := meaning.Of(o)
	refused := v.Status == status.Throttled || h.RefusedForLoad(o) // a rule cannot hide a refusal from the limiter
	if o.Stopped() || !refused && o.Quota == nil {
		return nil
	}
	f := Feedback{Sent: *p.sent.Load(), Refused: refused, Reason: "nothing remains of its rate limit"}
	if refused {
		f.Reason = v.Reason
		if o.Hint != nil {
			f.Wait, f.Reason = o.Hint.Wait, o.Hint.Source
		}
	}
	if o.Quota != nil {
		f.Remaining, f.Reset = o.Quota.Remaining, o.Quota.Reset
	}
	if h.Elsewhere || origin == h.Origin {
		origin = ""
	}
	for _, name := range []string{h.Origin, origin} {
		if name != "" {
			p.w.limiter.Done(name, f)
		}
	}
	closed := &limit{Origin: cmp.Or(h.Origin, origin), At: time.Now(), Wait: f.closes(), Reason: f.Reason}
	if closed.Origin == "" || closed.Wait <= 0 {
		return nil
	}
	return closed
}

// A closing is the cause of a failure if an origin is closed until after the deadline, or a redirect leads to an
// origin that is closed for long.
type closing struct{ status.Hint }

func (c *closing) Error() string { return "the origin is closed" }

// closedFor returns the reason why an origin gets no request.
func closedFor(origin string, wait time.Duration, reason string) string {
	return fmt.Sprintf("%s is closed for %s (%s)", origin, words.Short(wait), reason)
}

// endClosed notes that all targets end, since an origin is closed until after their deadline.
func (w *wait) endClosed(why string) {
	for _, w := range w.all() {
		w.closedPastDeadline = why
	}
}
