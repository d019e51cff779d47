package poll

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"time"
)

const (
	// clockSpread is by how much two readings of another clock may differ.
	clockSpread = 100 * time.Millisecond
	// never is what the timer is set to if nothing is due.
	never = time.Duration(1<<63 - 1)
	// slowAfter is how long an attempt counts for Parallel. A slower attempt, as at a host that hangs, counts
	// for its place only, so that hosts that hang do not hold up all other places.
	slowAfter = 5 * time.Second
	// maxSlow is how many slow attempts there are at most, as a multiple of Parallel.
	maxSlow = 3
)

// A loop drives waits: it plans attempts, ends waits and emits events. That of a single wait does
// so in the consumer's goroutine, and looks there, too. That of a group has a goroutine of its own,
// and so has each source that looks. A busy source is touched by the goroutine that looks, and any
// other by the loop alone.
type loop struct {
	Group
	score
	*run
	single bool // it has one wait, which is no target of a group, and makes the attempts itself

	cancel    context.CancelCauseFunc // of the run's context
	yield     func(Event) bool
	brokenOff bool

	sources []*source
	opened  int // how many of sources are opened
	places  map[string]*place
	workers semaphore
	agenda  agenda
	timer   *time.Timer
	busy    int // how many of sources are busy
	done    chan *source

	underWay []underWay // attempts that count for Parallel, and ended attempts that are not removed yet, by their start
	slow     int        // how many attempts count no longer
}

// An underWay is an attempt that has started.
type underWay struct {
	*source
	begun time.Time
}

// driveOne waits for one target.
func (l *loop) driveOne(p Poller) {
	defer l.start(slices.Values([]Poller{p}))()
	l.drive()
}

// drive waits for the targets, and ends those that are left.
func (l *loop) drive() {
	l.timer = time.NewTimer(never)
	defer l.timer.Stop()
	l.openNew()
	for l.runDue(); !l.over() && !(l.stepping && l.busy == 0); l.runDue() {
		l.await()
	}
	if !l.stepping || l.over() {
		l.stop()
	}
}

// openNew opens the sources that are new, and plans them.
func (l *loop) openNew() {
	from := l.opened
	for ; l.opened < len(l.sources); l.opened++ { // opening may add some
		l.open(l.sources[l.opened])
	}
	for _, s := range l.sources[from:] {
		l.plan(s)
	}
}

// plan plans the next attempt of a source, unless all its targets have ended.
func (l *loop) plan(s *source) {
	if s.over {
		s.wait = nil // of thousands that have ended nothing is kept
		return
	}
	now := time.Now()
	s.place = l.placeOf(s)
	s.others = l.timeForOthers(s, s.median())
	known := l.stepping && !s.Due.IsZero() // by the last step
	if !known {
		s.plan(now)
	}
	s.step = stepRoom
	if known && !s.Due.After(now) {
		l.agenda.wakeAt(s, s.Due)
		return
	}
	l.sleepUntilDue(s, "", now)
}

// timeForOthers returns how long one look at each of the other sources takes, if one look takes so
// long. All share the workers, and those of the same place its room.
func (l *loop) timeForOthers(s *source, took time.Duration) time.Duration {
	others := time.Duration(len(l.agenda)) * took / time.Duration(l.Parallel)
	if most := s.place.steps[stepRoom].most; most > 0 {
		others = max(others, time.Duration(s.place.planned)*took/time.Duration(most))
	}
	return others
}

// runDue goes on with what is due.
func (l *loop) runDue() {
	l.decide()
	l.wake(time.Now())
	l.releaseSlow(time.Now())
	l.decide()
}

// over reports whether the loop is to end.
func (l *loop) over() bool { return l.live+l.lists == 0 || l.brokenOff || l.ctx.Err() != nil }

// decide ends the group once its goal was reached, or is out of reach.
func (l *loop) decide() {
	switch have, need := l.Endings[Succeeded], l.needed(); {
	case l.over():
	case need > 0 && have >= need && (l.Percent <= 0 || l.missing == 0):
		l.cancel(errReached)
	case l.Attempts == 0 && l.growing == 0 && need > l.Targets+l.missing: // known before the first attempt
		l.cancel(errOutOfReach)
	case !l.FailFast:
	case need <= 0 && l.failed > 0, need > 0 && l.growing == 0 && have+l.live < need:
		l.cancel(errOutOfReach)
	}
}

// needed returns how many targets have to succeed, 0 for all.
func (l *loop) needed() int {
	if l.Percent <= 0 {
		return l.AtLeast
	}
	return int(math.Ceil(l.Percent*float64(l.Targets+l.missing)/100 - 1e-9)) // 4.4% of 750 are 33, and not 33.000000000000007
}

// await waits until a task is done, or a source wakes.
func (l *loop) await() {
	wait := never
	if len(l.agenda) > 0 {
		wait = time.Until(l.agenda[0].wake)
	}
	if at := l.nextSlow(); !at.IsZero() {
		wait = min(wait, time.Until(at))
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

// admit goes on with a source that is due, to the call of its limiter or to its attempt.
func (l *loop) admit(s *source) {
	if l.over() {
		return
	}
	if !s.advance() {
		l.agenda.wakeAt(s, s.deadline)
		return
	}
	if s.step == stepAttempt {
		l.begin(s)
	}
	l.dispatch(s)
}

// release gives the semaphores of a place that a source has acquired for these steps to those next
// in line.
func (l *loop) release(s *source, p *place, steps ...int) {
	for _, step := range steps {
		if !s.acquired[step] {
			continue
		}
		s.acquired[step] = false
		if next := p.steps[step].release(); next != nil {
			next.acquired[step] = true
			l.admit(next)
		}
	}
}

// nextSlow returns the time when the next attempt becomes slow. It returns zero without such an attempt, and
// while there are maxSlow attempts.
func (l *loop) nextSlow() time.Time {
	for len(l.underWay) > 0 {
		switch a := l.underWay[0]; {
		case !a.busy || a.step != stepAttempt || !a.begun.Equal(a.source.begun): // it has ended
			l.underWay = l.underWay[1:]
		case l.slow < maxSlow*l.Parallel:
			return a.begun.Add(slowAfter)
		default:
			return time.Time{}
		}
	}
	return time.Time{}
}

// releaseSlow releases the workers of attempts that have become slow.
func (l *loop) releaseSlow(now time.Time) {
	for at := l.nextSlow(); !at.IsZero() && !at.After(now); at = l.nextSlow() {
		s := l.underWay[0].source
		l.underWay = l.underWay[1:]
		s.isSlow = true
		l.slow++
		l.release(s, s.place, stepWorker)
	}
}

// sleepUntilDue has a source sleep until it is due, and tells so. by is what holds back an attempt
// that was due already, "" if it was not.
func (l *loop) sleepUntilDue(s *source, by HeldBy, now time.Time) {
	e := s.event(EventWait, now)
	e.HeldBy = by
	l.emit(e)
	l.agenda.wakeAt(s, earliest(s.deadline, s.Due))
}

// handleClosedPlace reports that the place of a source has asked for a wait. It ends the targets of
// the source if the place opens after their deadline.
func (l *loop) handleClosedPlace(s *source, now time.Time) {
	p := s.place
	if s.Due.After(p.opens) {
		p.opens = s.Due.Add(clockSpread)
		l.emit(Event{Kind: EventPlace, At: now, Elapsed: now.Sub(l.Start), Deadline: l.deadline,
			Place: &Place{Name: p.name, ClosedUntil: s.Due, Reason: s.closedReason}})
	}
	if s.deadline.IsZero() || s.Due.Before(s.deadline) {
		l.sleepUntilDue(s, HeldByGate, now)
		return
	}
	s.endClosed(closedFor(p.name, s.Due.Sub(now), s.closedReason))
	l.end(s)
}

// begin begins an attempt.
func (l *loop) begin(s *source) {
	s.begun = time.Now()
	l.agenda.wakeAt(s, time.Time{})
	if s.list != nil {
		s.list.lastComplete = false
	}
	for _, w := range s.all() {
		w.begin()
	}
	l.Attempts++
	e := s.event(EventStart, s.begun)
	e.ofStart = s.planned.Once
	l.emit(e)
	l.release(s, s.place, stepTurn)
	if s.planned.streams { // it may last, and others are to listen, too
		l.release(s, s.place, stepRoom, stepWorker)
	} else if !l.single {
		l.underWay = append(l.underWay, underWay{s, s.begun})
	}
}

// dispatch calls the limiter of a source at stepTurn, and makes the attempt at stepAttempt. Both emit no event,
// and change only the source. The loop of a single wait does that itself.
func (l *loop) dispatch(s *source) {
	s.busy = true
	l.busy++
	work := func() {
		if s.step == stepTurn {
			s.reserve()
		} else {
			s.look()
		}
		l.done <- s
	}
	if l.single {
		work()
	} else {
		go work()
	}
}

// finish goes on with a source that was busy.
func (l *loop) finish(s *source) {
	l.busy--
	s.busy = false
	now := time.Now()
	switch {
	case s.step == stepAttempt:
		l.conclude(s)
	case s.granted:
		s.step++
		l.admit(s)
	case l.over():
	case s.closedReason != "":
		l.handleClosedPlace(s, now)
	default:
		l.sleepUntilDue(s, HeldByRate, now)
	}
}

// conclude reports the verdict of an attempt, ends the targets for which it was the last, and
// plans the next attempt of the others.
func (l *loop) conclude(s *source) {
	p := s.place
	if s.isSlow {
		s.isSlow = false
		l.slow--
	}
	s.noteEvidence() // before the events, whose States have it
	if s.list == nil {
		l.concludeWaits(s)
	} else {
		l.concludeList(s)
	}
	if s.over || l.ctx.Err() == nil && !l.brokenOff {
		l.plan(s)
	}
	l.release(s, p, stepRoom, stepWorker)
}

// end ends the targets of a source whose deadline has come, or all of them.
func (l *loop) end(s *source) {
	l.endAll(s, cmp.Or(s.stopped(), TimedOut))
	l.agenda.wakeAt(s, time.Time{})
	l.release(s, s.place, stepRoom, stepTurn, stepWorker)
	l.plan(s)
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

// An agenda is a heap of sources by the time at which they wake (container/heap). Each source
// knows its index in it.
type agenda []*source

// notInAgenda is the index of a source that is not in the agenda: it is due, in line, busy or over.
const notInAgenda = -1

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].wake.Compare(a[j].wake), cmp.Compare(a[i].order, a[j].order)) < 0
}

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].agendaIndex, a[j].agendaIndex = i, j
}

// Push is for package heap.
func (a *agenda) Push(x any) {
	s := x.(*source)
	s.agendaIndex = len(*a)
	s.place.planned++
	*a = append(*a, s)
}

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	s := (*a)[last]
	(*a)[last] = nil
	*a, s.agendaIndex = (*a)[:last], notInAgenda
	s.place.planned--
	return s
}

// wakeAt has a source wake at a time; zero is never.
func (a *agenda) wakeAt(s *source, at time.Time) {
	if s.agendaIndex != notInAgenda {
		heap.Remove(a, s.agendaIndex)
	}
	if s.wake = at; !at.IsZero() {
		heap.Push(a, s)
	}
}
