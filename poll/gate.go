package poll

import (
	"cmp"
	"context"
	"errors"
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
	// clockSpread is the largest difference to expect between two estimates of the same time on another
	// machine's clock. A closed origin is reported again only if its opening time has moved by more than
	// clockSpread.
	clockSpread = 100 * time.Millisecond
	// slowAfter is the duration after which an attempt counts as slow. A slow attempt no longer occupies one of
	// the Parallel workers, so that hosts that hang do not delay attempts at other origins. It still counts
	// toward the limit of its own origin.
	slowAfter = 5 * time.Second
	// maxSlow limits the number of slow attempts, as a multiple of Parallel.
	maxSlow = 3
)

// A gate limits how many attempts run at the same time. Before it starts, an attempt passes three limits in
// this order: the limit of its origin (ParallelOrigin), the limiter, and the limit for all origins together
// (Parallel).
type gate struct {
	origins map[string]*origin
	workers *semaphore.Weighted
	slow    *semaphore.Weighted // taken by attempts that have become slow
}

// newGate returns a gate. The argument parallel is the maximum number of concurrent attempts, not counting slow
// attempts.
func newGate(parallel int) gate {
	return gate{
		origins: make(map[string]*origin),
		workers: semaphore.NewWeighted(int64(parallel)),
		slow:    semaphore.NewWeighted(maxSlow * min(int64(parallel), math.MaxInt64/maxSlow)),
	}
}

// An origin is a scheme, host and port, or the name of a program. All attempts at an origin share its limits.
type origin struct {
	name  string
	most  int // largest number of concurrent attempts; 0 means no limit
	room  *semaphore.Weighted
	line  line
	waits int       // number of waits whose next attempt goes to this origin
	opens time.Time // opening time in the latest EventOrigin, plus clockSpread
}

// originOf returns the origin of w's next attempt. It creates the origin when it is first needed.
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

// enter waits until an attempt of w may start. On success it returns leave, which the caller must call to let
// other attempts start, and pace, which delays the attempt's requests (see newPaced). ok is false if ctx is
// done first, if the origin is closed until after the deadline, or if a [Poller.Step] would have to wait for
// the limiter. Outside a [Group], enter waits only for the limiter, and leave does nothing.
func (l *loop) enter(ctx context.Context, w *wait) (leave func(), pace *paced, ok bool) {
	if l.single {
		ok = l.awaitSlot(ctx, w)
		return func() {}, newPaced(w), ok
	}
	o, isOwn := w.origin, w.p.Limiter != nil // a wait with its own limiter waits for that limiter first, so that it does not occupy its origin meanwhile
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

// awaitSlot waits until the limiter allows a request to w's origin. It returns false in the same cases as
// enter.
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

// hold reports that an attempt of w that is due has to wait: it emits an EventWait and, if the origin is newly
// closed, an EventOrigin. closed is the reason why the origin is closed, or "" if the attempt only waits for
// its turn. hold returns false, without an EventWait, if the origin is closed until after the deadline.
func (l *loop) hold(w *wait, closed string, now time.Time) bool {
	defer l.lock()()
	e := w.event(EventWait, now)
	e.HeldBy = "rate"
	if o := w.origin; closed != "" {
		e.HeldBy = "gate"
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

// work waits for a free worker, and returns a function that frees the worker. An attempt that has become slow
// frees its worker early, as soon as the number of slow attempts permits. If ctx is done first, work returns
// ctx.Err().
func (g *gate) work(ctx context.Context) (stop func(), err error) {
	if err := g.workers.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	free := sync.OnceFunc(func() { g.workers.Release(1) })
	attempt, end := context.WithCancel(context.Background())
	slow := time.AfterFunc(slowAfter, func() {
		if g.slow.Acquire(attempt, 1) == nil {
			free()
			<-attempt.Done()
			g.slow.Release(1)
		}
	})
	return func() {
		slow.Stop()
		end()
		free()
	}, nil
}

// paced delays the requests within one attempt, so that each request takes a slot (a time to send one request)
// from the limiter. The slot for the first request to the attempt's own origin was taken before the attempt
// started.
type paced struct {
	w       *wait
	clock   *clock                    // the attempt's clock; nil without an AttemptTimeout
	sent    atomic.Pointer[time.Time] // time of the last request; atomic, since a probe may send several requests at once
	visited sync.Map                  // set of the origins that this attempt has sent requests to
}

// newPaced returns a paced for the next attempt of w, or nil if w has no limiter. It returns a paced even if
// w's plan names no origin, because the probe may still send requests.
func newPaced(w *wait) *paced {
	if w.limiter == nil {
		return nil
	}
	p := &paced{w: w}
	p.sent.Store(new(time.Now()))
	return p
}

// Wait waits until a request may be sent to origin. It returns immediately for the first request to the
// attempt's own origin.
//
// Wait returns a failure if ctx is done, or if origin is closed until after the deadline. It also fails if an
// HTTP attempt reaches origin for the first time, for example through a redirect, and origin is closed for
// longer than slowAfter. Otherwise the waiting attempt would block the other targets at its own origin.
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
			return &status.Failure{Kind: status.FailureStopped, Reason: closedFor(origin, wait, closed), Err: Throttled(errors.New(closed), wait)}
		default:
			sleepUntil(ctx, slot)
		}
	}
}

// Done reports o, the response to a request, to the limiter. It returns true if the server rejected the request
// because of load, and the request may be sent again before the deadline.
func (p *paced) Done(origin string, o status.Observation) (again bool) {
	v := status.Verdict{}
	if !o.Good() {
		v = p.w.rules.Classify(p.w.run.ctx, o)
	}
	p.feedBack(origin, &o, v)
	return v.Status == status.Throttled && (o.RetryAfter == nil || !p.w.isDeadline(time.Now().Add(o.RetryAfter.Wait)))
}

// feedBack informs the limiter of a rejected request, or of the quota that a response reports. It does so for
// the origin that returned the response, and for the origin of the request unless a redirect led to another
// origin. It returns the resulting pause, or nil if further requests may be sent.
func (p *paced) feedBack(origin string, o *status.Observation, v status.Verdict) *pause {
	h := meaning.HTTPOf(o)
	refused := v.Status == status.Throttled || h.RefusedForLoad(o) // a rule cannot hide a refusal from the limiter
	if o.Stopped() || !refused && o.Quota == nil {
		return nil
	}
	f := Feedback{Sent: *p.sent.Load(), Refused: refused, Reason: "the rate limit is used up"}
	if refused {
		f.Reason = v.Reason
		if o.RetryAfter != nil {
			f.Wait, f.Reason = o.RetryAfter.Wait, o.RetryAfter.Source
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
	closed := &pause{Origin: cmp.Or(h.Origin, origin), At: time.Now(), Wait: f.closes(), Reason: f.Reason}
	if closed.Origin == "" || closed.Wait <= 0 {
		return nil
	}
	return closed
}

// closedFor returns a human-readable message: the origin is closed for the duration wait, for the given reason.
func closedFor(origin string, wait time.Duration, reason string) string {
	return fmt.Sprintf("%s is closed for %s (%s)", origin, words.Short(wait), reason)
}
