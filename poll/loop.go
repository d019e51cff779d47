package poll

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	defaultParallel = 50
	// clockSpread is by how much two readings of another clock may differ.
	clockSpread = 100 * time.Millisecond
	// never is what the timer is set to if nothing is due.
	never = time.Duration(1<<63 - 1)
)

// Why the targets of a group that have not ended are cancelled.
var (
	errReached    = fmt.Errorf("%w: the goal was reached", Cancelled)
	errOutOfReach = fmt.Errorf("%w: the goal is out of reach", Cancelled)
	errOver       = fmt.Errorf("%w: nothing is waited for any more", Cancelled)
)

// A loop drives waits. It plans, settles and tells in the consumer's goroutine. Sources look in
// other goroutines; a single wait's looks in the consumer's. A busy source belongs to the goroutine
// that looks, any other to the loop.
type loop struct {
	Group
	score
	*run
	alone bool // it has one wait, which is no target of a group, and makes the attempts itself

	cancel    context.CancelCauseFunc // of the run's context
	yield     func(Event) bool
	brokenOff bool

	sources []*source
	opened  int // how many of sources are opened
	places  map[string]*place
	claims  semaphore
	workers semaphore
	agenda  agenda
	timer   *time.Timer
	busy    int // how many of sources are busy
	done    chan *source
}

func newLoop(ctx context.Context, g Group, yield func(Event) bool) *loop {
	if g.Start.IsZero() {
		g.Start = time.Now()
	}
	if g.Rand == nil {
		g.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if g.Parallel <= 0 {
		g.Parallel = defaultParallel
	}
	r := &run{caller: ctx, start: g.Start, rand: g.Rand}
	l := &loop{Group: g, run: r, yield: yield, places: make(map[string]*place), done: make(chan *source, g.Parallel)}
	l.claims.most, l.workers.most = g.Parallel, g.Parallel
	l.Endings = make(map[Ending]int)
	return l
}

// drive waits for the targets, and ends those that are left.
func (l *loop) drive(targets iter.Seq[Poller]) {
	defer l.limit()()
	l.timer = time.NewTimer(never)
	defer l.timer.Stop()
	l.read(targets)
	l.openAll()
	for l.step(); !l.over() && !(l.stepping && l.busy == 0); l.step() {
		l.await()
	}
	if !l.stepping || l.over() {
		l.stop()
	}
	for _, s := range l.sources {
		if s.sharing != nil {
			s.sharing.leave()
		}
	}
}

// limit makes the context of all attempts. It returns what releases it.
func (l *loop) limit() (release func()) {
	l.ctx, l.cancel = context.WithCancelCause(l.caller)
	stop := func() {}
	if !l.stepping { // its caller's deadline is not that of the wait
		l.deadline, _ = l.caller.Deadline()
	}
	if l.Timeout > 0 {
		l.deadline = earliest(l.deadline, l.Start.Add(l.Timeout))
	}
	if !l.deadline.IsZero() {
		l.ctx, stop = context.WithDeadlineCause(l.ctx, l.deadline, ErrDeadline)
	}
	return func() {
		stop()
		l.cancel(errOver)
	}
}

// read makes the sources of the targets.
func (l *loop) read(targets iter.Seq[Poller]) {
	for p := range targets {
		w := newWait(l.run, p)
		if p.Elements != nil && !l.alone {
			l.addList(w)
			continue
		}
		l.number(w)
		l.add(w)
	}
}

// add adds the source of a wait.
func (l *loop) add(w *wait) {
	l.sources = append(l.sources, &source{wait: w, limiter: l.Limiter, order: len(l.sources), at: asleep})
}

// number makes a wait a target.
func (l *loop) number(w *wait) {
	l.live++
	if l.Targets++; !l.alone {
		w.n = l.Targets
	}
}

// open opens the session of a source, and ends the targets for which no attempt can succeed,
// or nothing is left to do.
func (l *loop) open(s *source) {
	if s.list != nil {
		l.endSome(s, (*wait).endingOfPast)
	}
	how := s.endingOfPast()
	if how == "" {
		how = s.wait.open()
	}
	switch {
	case how != "":
		l.fail(s, how)
	case s.list != nil:
		l.openList(s)
	default:
		s.p.Probe = nil // the session is looked at
	}
}

// openAll opens and plans the sources that are new.
func (l *loop) openAll() {
	from := l.opened
	for ; l.opened < len(l.sources); l.opened++ { // opening may add some
		l.open(l.sources[l.opened])
	}
	for _, s := range l.sources[from:] {
		l.plan(s)
	}
}

// fail ends a source of which no attempt can succeed.
func (l *loop) fail(s *source, how Ending) {
	why := s.hopeless
	if s.Ended() {
		why = errors.New(s.Reason)
	}
	for _, w := range s.all() {
		w.hopeless = why
	}
	l.endAll(s, how)
}

// over reports whether the loop is to end.
func (l *loop) over() bool { return l.live+l.lists == 0 || l.brokenOff || l.ctx.Err() != nil }

// plan plans the next attempt of a source, unless all its targets have ended.
func (l *loop) plan(s *source) {
	if s.over {
		if s.sharing != nil {
			s.sharing.leave()
		}
		s.wait = nil // of thousands that have ended nothing is kept
		return
	}
	now := time.Now()
	s.place = l.placeOf(s)
	s.others = l.timeForOthers(s, s.median())
	known := l.stepping && !s.Due.IsZero() // by the last step
	if !known {
		var shared time.Time
		if s.sharing != nil {
			shared = s.sharing.next
		}
		s.plan(now, shared)
	}
	s.step = claim
	if known && !s.Due.After(now) {
		l.wakeAt(s, s.Due)
		return
	}
	l.sleepUntilDue(s, "", now)
}

// timeForOthers returns how long one look at each of the other sources takes, if one look takes so
// long. All share the workers, and those of the same place its room.
func (l *loop) timeForOthers(s *source, took time.Duration) time.Duration {
	others := time.Duration(len(l.agenda)) * took / time.Duration(l.Parallel)
	if most := s.place.steps[room].most; most > 0 {
		others = max(others, time.Duration(s.place.planned)*took/time.Duration(most))
	}
	return others
}

// step goes on with what is due.
func (l *loop) step() {
	l.decide()
	l.wake(time.Now())
	l.decide()
}

// await waits until a task is done, or a source wakes.
func (l *loop) await() {
	wait := never
	if len(l.agenda) > 0 {
		wait = time.Until(l.agenda[0].wake)
	}
	if wait <= 0 {
		return
	}
	l.timer.Reset(wait)
	select {
	case s := <-l.done:
		l.finish(s)
		for range len(l.done) {
			l.finish(<-l.done)
		}
	case <-l.timer.C:
	case <-l.ctx.Done():
	}
}

// wake goes on with the sources whose time has come: to their attempts or, at the deadline, to
// their end.
func (l *loop) wake(now time.Time) {
	for len(l.agenda) > 0 && !l.agenda[0].wake.After(now) && !l.over() && !(l.stepping && l.Attempts > 0) {
		s := heap.Pop(&l.agenda).(*source)
		switch {
		case s.busy: // what it finds out comes first
		case !s.deadline.IsZero() && !now.Before(s.deadline):
			l.end(s)
		default:
			l.admit(s)
		}
	}
}

// begin begins an attempt.
func (l *loop) begin(s *source) {
	p := s.place // when do returns, the next attempt may have been planned, for another
	s.begun = time.Now()
	l.wakeAt(s, time.Time{})
	if s.list != nil {
		s.list.good = false
	}
	for _, w := range s.all() {
		w.begin()
	}
	l.Attempts++
	l.emit(s.event(EventStart, s.begun))
	l.do(s)
	l.release(s, p, turn)
}

// do has a source do what its step asks, or its attempt. The loop of a single wait does that
// itself: when do returns there, the attempt is judged and the next one planned.
func (l *loop) do(s *source) {
	s.busy = true
	l.busy++
	if l.alone {
		s.do()
		l.finish(s)
		return
	}
	go func() {
		s.do()
		l.done <- s
	}()
}

// finish goes on with a source that was busy.
func (l *loop) finish(s *source) {
	l.busy--
	s.busy = false
	now, by := time.Now(), HeldByAnother
	switch s.step {
	case attempt:
		l.settle(s)
		return
	case claim:
		l.release(s, s.place, claim)
	case turn:
		by = HeldByRate
	}
	switch {
	case s.granted:
		s.step++
		l.admit(s)
	case l.over():
	case s.step == turn && s.held != "":
		l.closed(s, now)
	default:
		l.sleepUntilDue(s, by, now)
	}
}

// settle tells what an attempt was judged to be, ends the targets for which it was the last,
// and plans the next attempt of the others.
func (l *loop) settle(s *source) {
	if s.sharing != nil {
		l.countShared(s)
	}
	p := s.place
	if s.list == nil {
		l.settleWaits(s)
	} else {
		l.settleList(s)
	}
	if s.over || l.ctx.Err() == nil && !l.brokenOff {
		l.plan(s)
	}
	l.release(s, p, room)
	l.release(s, p, worker)
}

// countShared counts an attempt that another process has made, or should have shared.
func (l *loop) countShared(s *source) {
	taken, unshared := s.sharing.settle()
	l.Taken += taken
	l.Alone += unshared
	for _, w := range s.all() {
		w.Taken += taken
		w.Alone += unshared
	}
}

// settleWaits tells what an attempt was judged to be, and ends the targets for which it was
// the last.
func (l *loop) settleWaits(s *source) {
	now := time.Now()
	l.endSome(s, func(w *wait) Ending {
		how := w.unrunnable()
		if how != "" {
			w.Attempts--
			return how
		}
		isNews := s.list == nil || s.list.isNews(w)
		if isNews {
			l.emit(w.event(EventAttempt, now))
		}
		if how = w.ending(); how == "" && !l.alone && isNews {
			w.slim()
		}
		return how
	})
}

// end ends the targets of a source whose deadline has come, or all of them.
func (l *loop) end(s *source) {
	l.endAll(s, cmp.Or(s.stopped(), TimedOut))
	l.wakeAt(s, time.Time{})
	for step := range steps {
		l.release(s, s.place, step)
	}
	l.plan(s)
}

// endAll ends all targets of a source.
func (l *loop) endAll(s *source, how Ending) {
	if s.list != nil {
		l.endList(s, how)
		return
	}
	l.endSome(s, func(*wait) Ending { return how })
}

// endSome ends the targets of a source that have an ending. The others go on.
func (l *loop) endSome(s *source, ending func(*wait) Ending) {
	isEnd := func(w *wait) bool {
		how := ending(w)
		if how != "" {
			l.live--
			l.tellEnd(w, how)
		}
		return how != ""
	}
	if s.list == nil {
		s.over = isEnd(s.wait)
		return
	}
	s.list.waiting = slices.DeleteFunc(s.list.waiting, isEnd)
}

// tellEnd counts and tells an end.
func (l *loop) tellEnd(w *wait, how Ending) {
	o := w.outcome(how)
	o.State = w.keptAtEnd(how, o)
	l.Endings[o.Ending]++
	if o.Ending != Succeeded {
		l.failed++
		l.First = cmp.Or(l.First, o.Err())
	}
	e := w.event(EventEnd, time.Now())
	e.Elapsed, e.Outcome, e.State = o.Elapsed, &o, o.State
	l.emit(e)
}

// stop ends the targets that have not ended. Those of which an attempt is under way end with
// it: its context is done.
func (l *loop) stop() {
	l.cancel(errOver)
	for l.endResting(); l.busy > 0; l.endResting() {
		l.finish(<-l.done)
	}
}

// endResting ends the targets of which no attempt is under way.
func (l *loop) endResting() {
	for i := 0; i < len(l.sources); i++ { // a list that ends may add its elements
		if s := l.sources[i]; !s.busy && !s.over {
			l.end(s)
		}
	}
}

// emit hands an event to the consumer until that breaks off.
func (l *loop) emit(e Event) {
	if !l.brokenOff {
		l.brokenOff = !l.yield(e)
	}
}
