package poll

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
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
	places  map[string]*place
	workers *semaphore.Weighted
	slow    *semaphore.Weighted // the attempts that have become slow
}

func newGate(parallel int) gate {
	return gate{
		places:  make(map[string]*place),
		workers: semaphore.NewWeighted(int64(parallel)),
		slow:    semaphore.NewWeighted(maxSlow * int64(parallel)),
	}
}

// A place is the origin of attempts: the origin of a URL, or a program. Attempts at one place share its limits.
type place struct {
	name    string
	most    int // how many attempts it gets at once, 0 for no limit
	room    *semaphore.Weighted
	line    line
	sources int       // how many sources come here next
	opens   time.Time // the latest time of opening that was reported
}

// placeOf returns the place of the next attempt of a wait.
func (l *loop) placeOf(w *wait) *place {
	name := w.planned.Origin
	p := l.places[name]
	if p == nil {
		p = &place{name: name}
		if name != "" && l.ParallelPlace != nil {
			p.most = max(0, l.ParallelPlace(name))
		}
		room := int64(p.most)
		if room == 0 {
			room = math.MaxInt64
		}
		p.room = semaphore.NewWeighted(room)
		l.places[name] = p
	}
	return p
}

// enter waits until an attempt may start, and returns the function that ends its time in the gate. It reports
// false if the run or the wait of the source ends first, or if a step would have to wait.
func (l *loop) enter(s *source) (leave func(), ok bool) {
	ctx, cancel := s.wait.context(0)
	defer cancel()
	p, isOwn := s.place, s.wait.p.Limiter != nil // the other sources of the place do not wait for a limiter of its own
	if isOwn && !l.awaitSlot(ctx, s) || p.room.Acquire(ctx, 1) != nil {
		return nil, false
	}
	if isOwn || l.awaitSlot(ctx, s) {
		if stop, err := l.work(ctx); err == nil {
			return sync.OnceFunc(func() {
				stop()
				p.room.Release(1)
			}), true
		}
	}
	p.room.Release(1)
	return nil, false
}

// awaitSlot waits until the limiter lets a request go to the origin of a source. It reports false as enter does, and
// if the origin is closed until after the deadline.
func (l *loop) awaitSlot(ctx context.Context, s *source) bool {
	w := s.wait
	for s.limiter != nil && s.place.name != "" {
		var had time.Time
		if w.Reserved {
			had = w.Due
		}
		var closed string
		w.Due, closed = s.limiter.Next(s.place.name, had)
		w.Reserved = true
		if !w.Due.After(time.Now()) {
			break
		}
		if ctx.Err() != nil || !l.hold(s, closed, time.Now()) || l.stepping {
			return false
		}
		sleepUntil(ctx, w.Due)
	}
	return ctx.Err() == nil
}

// hold emits that an attempt which is due has to wait for the limiter, or because its origin is closed for a reason. It
// reports false if the origin is closed until after the deadline.
func (l *loop) hold(s *source, closed string, now time.Time) bool {
	defer l.lock()()
	w, p, by := s.wait, s.place, HeldByRate
	if closed != "" {
		by = HeldByGate
		if w.Due.After(p.opens) {
			p.opens = w.Due.Add(clockSpread)
			l.emit(Event{Kind: EventPlace, At: now, Elapsed: now.Sub(l.Start), Deadline: l.deadline,
				Place: &Place{Name: p.name, ClosedUntil: w.Due, Reason: closed}})
		}
		if w.isDeadline(w.Due) {
			s.endClosed(closedFor(p.name, w.Due.Sub(now), closed))
			return false
		}
	}
	l.emitWait(w, by, now)
	return true
}

// work waits for a worker, and returns the function that releases the worker. An attempt that has become slow releases
// its worker early. At most maxSlow times Parallel attempts are slow; a further attempt keeps its worker.
func (g *gate) work(ctx context.Context) (stop func(), err error) {
	if err := g.workers.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	held := g.workers // nil once the attempt has ended
	attempt, end := context.WithCancel(context.Background())
	slow := time.AfterFunc(slowAfter, func() {
		if g.slow.Acquire(attempt, 1) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if held == nil {
			g.slow.Release(1)
			return
		}
		held.Release(1)
		held = g.slow
	})
	return func() {
		end()
		slow.Stop()
		mu.Lock()
		defer mu.Unlock()
		held.Release(1)
		held = nil
	}, nil
}
