package poll

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/pollcli/poll/words"
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

// A loop drives waits. It plans, settles and tells in the consumer's goroutine, and sources
// look in other goroutines; that of a single wait looks in the consumer's, too. A source belongs
// to one of those while it is busy, and to the loop otherwise.
type loop struct {
	Group
	score
	single bool // its one target is no target of a group, and the loop itself looks at it
	once   bool // it makes one attempt, if that is due

	caller, ctx context.Context // ctx is done with the caller's, at the deadline, or once the goal is decided
	cancel      context.CancelCauseFunc
	deadline    time.Time // zero = none
	yield       func(Event) bool
	brokenOff   bool

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
	l := &loop{Group: g, caller: ctx, yield: yield, places: make(map[string]*place), done: make(chan *source, g.Parallel)}
	l.claims.most, l.workers.most = g.Parallel, g.Parallel
	l.Endings = make(map[Ending]int)
	return l
}

// run waits for the targets, and ends those that are left.
func (l *loop) run(targets iter.Seq[Poller]) {
	defer l.limit()()
	l.timer = time.NewTimer(never)
	defer l.timer.Stop()
	l.read(targets)
	l.openAll()
	for l.step(); !l.over() && !(l.once && l.busy == 0); l.step() {
		l.await()
	}
	if !l.once || l.over() {
		l.stop()
	}
	for _, s := range l.sources {
		s.sharing.leave()
	}
}

// limit makes the context of all attempts. It returns what releases it.
func (l *loop) limit() (release func()) {
	l.ctx, l.cancel = context.WithCancelCause(l.caller)
	stop := func() {}
	if !l.once { // its caller's deadline is not that of the wait
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

// read makes the sources of the targets. Targets whose probe is one pointer, and which have the
// same deadline, share one.
func (l *loop) read(targets iter.Seq[Poller]) {
	shared := make(map[Probe]*source)
	for p := range targets {
		w := newWait(l, p)
		if p.Elements != nil && !l.single {
			l.addList(w)
			continue
		}
		l.number(w)
		if p.Probe == nil || reflect.TypeOf(p.Probe).Kind() != reflect.Pointer {
			l.add(w)
			continue
		}
		if s := shared[p.Probe]; s != nil && s.lead().deadline.Equal(w.deadline) {
			s.waits = append(s.waits, w)
			continue
		}
		shared[p.Probe] = l.add(w)
	}
}

// add adds the source of a wait.
func (l *loop) add(w *wait) *source {
	s := &source{loop: l, waits: []*wait{w}, n: len(l.sources), at: asleep}
	l.sources = append(l.sources, s)
	return s
}

// number makes a wait a target.
func (l *loop) number(w *wait) {
	l.live++
	if l.Targets++; !l.single {
		w.n = l.Targets
	}
}

// open opens the session of a source, and ends the targets for which no attempt can succeed,
// or nothing is left to do. A request that starts an operation is not shared.
func (l *loop) open(s *source) {
	l.endSome(s, (*wait).before)
	if s.ended() {
		return
	}
	first := s.lead()
	how := first.before()
	if how == "" {
		how = first.open()
	}
	if how != "" {
		l.fail(s, how)
		return
	}
	if s.list != nil && !l.openList(s) {
		return
	}
	if first.startDue() {
		for _, w := range s.waits[1:] {
			l.add(w)
		}
		s.waits = s.waits[:1]
	}
	for _, w := range s.waits[1:] {
		if w.session, w.probe = first.session, first.probe; w.Began.IsZero() {
			w.Began = w.Start
		}
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
	why := s.lead().hopeless
	if s.lead().Ended() {
		why = errors.New(s.lead().Reason)
	}
	for _, w := range s.all() {
		w.hopeless = why
	}
	l.endAll(s, how)
}

// over reports whether the loop is to end.
func (l *loop) over() bool { return l.live+l.lists == 0 || l.brokenOff || l.ctx.Err() != nil }

// plan plans the next attempt of a source, or has it leave its place if all its targets have
// ended.
func (l *loop) plan(s *source) {
	if l.assign(s); s.ended() {
		s.sharing.leave()
		return
	}
	now, first := time.Now(), s.lead()
	if s.sharing != nil {
		first.next = s.sharing.next
	}
	first.crowd = s.place.crowd(first.median(), l.Parallel)
	known := l.once && !first.Due.IsZero() // by the last step
	if !known {
		first.plan(now)
	}
	if s.door = claim; known && !first.Due.After(now) {
		l.sleep(s, first.Due)
		return
	}
	l.hold(s, "", now)
}

// hold tells that a source waits until it is due, and why if it was before.
func (l *loop) hold(s *source, by HeldBy, now time.Time) {
	first := s.lead()
	for _, w := range s.waits {
		w.Previous, w.Due, w.LastLook, w.Reserved = first.Previous, first.Due, first.LastLook, first.Reserved
		e := w.event(EventWait, now)
		if e.HeldBy = by; by != "" {
			e.Hint = nil
		}
		l.emit(e)
	}
	l.sleep(s, earliest(first.deadline, first.Due))
}

// assign makes a source a member of the place that its next attempt puts load on.
func (l *loop) assign(s *source) {
	if s.place != nil {
		s.place.members--
		s.place = nil
	}
	if s.ended() {
		return
	}
	name := ""
	if p, ok := s.lead().probe.(placer); ok {
		name = p.Place()
	}
	s.place = l.placeOf(name)
	s.place.members++
}

// placeOf returns the place of a name.
func (l *loop) placeOf(name string) *place {
	if p := l.places[name]; p != nil {
		return p
	}
	p := &place{name: name, doors: [doors]*semaphore{&l.claims, {}, {}, {}, &l.workers}}
	if p.limited = name != "" && l.Limiter != nil; p.limited {
		p.doors[turn].most = 1
	}
	if name != "" && l.ParallelPlace != nil {
		p.doors[room].most = l.ParallelPlace(name)
	}
	l.places[name] = p
	return p
}

// sleep has a source wake at a time; zero is never.
func (l *loop) sleep(s *source, at time.Time) {
	if s.at != asleep {
		heap.Remove(&l.agenda, s.at)
	}
	if s.wake = at; !at.IsZero() {
		heap.Push(&l.agenda, s)
	}
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
	for len(l.agenda) > 0 && !l.agenda[0].wake.After(now) && !l.over() && !(l.once && l.Attempts > 0) {
		s := heap.Pop(&l.agenda).(*source)
		deadline := s.lead().deadline
		switch {
		case s.busy && s.door == attempt:
			l.lend(s, now)
		case s.busy: // what it finds out comes first
		case !deadline.IsZero() && !now.Before(deadline) && s.list != nil && !deadline.Equal(l.deadline):
			l.endLate(s, now)
		case !deadline.IsZero() && !now.Before(deadline):
			l.end(s)
		default:
			l.admit(s)
		}
	}
}

// admit takes a source that is due to the next door before its attempt that is for it, unless
// the loop is to end.
func (l *loop) admit(s *source) {
	if l.over() {
		return
	}
	for s.door == claim && !s.shares() || s.door < worker && s.isTaken() || s.door == slot && !s.place.limited {
		s.door++
	}
	switch {
	case s.door == attempt:
		l.begin(s)
	case s.place.doors[s.door].acquire(s):
		l.pass(s)
	default:
		l.sleep(s, s.lead().deadline)
	}
}

// pass goes on with a source behind its door.
func (l *loop) pass(s *source) {
	s.holds[s.door] = true
	if s.door == claim || s.door == slot {
		l.do(s)
		return
	}
	s.door++
	l.admit(s)
}

// leave gives back what a source holds at a door of a place, to the next in line.
func (l *loop) leave(s *source, p *place, door int) {
	if !s.holds[door] {
		return
	}
	s.holds[door] = false
	if next := p.doors[door].release(); next != nil {
		l.pass(next)
	}
}

// lend gives the room of an attempt that takes far longer than others to another. At most as
// many more attempts than there is room for are under way.
func (l *loop) lend(s *source, now time.Time) {
	if s.place.lent >= s.place.doors[room].most {
		l.sleep(s, now.Add(leastLong))
		return
	}
	s.place.lent++
	s.lent = true
	l.leave(s, s.place, room)
}

// begin begins an attempt.
func (l *loop) begin(s *source) {
	p := s.place // the next attempt may go to another
	s.begun = time.Now()
	l.sleep(s, time.Time{})
	if p.doors[room].most > 0 {
		l.sleep(s, s.begun.Add(max(leastLong, 4*p.usual)))
	}
	if s.list != nil {
		s.list.good = false
	}
	for _, w := range s.all() {
		w.begin()
	}
	l.Attempts++
	for _, w := range s.waits {
		l.emit(w.event(EventStart, s.begun))
	}
	l.do(s)
	l.leave(s, p, turn)
}

// do has a source do what is behind its door. The loop of a single wait does that itself.
func (l *loop) do(s *source) {
	s.busy = true
	l.busy++
	if l.single {
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
	switch s.door {
	case claim:
		l.leave(s, s.place, claim)
	case slot:
		by = l.reserved(s, now)
	case attempt:
		l.settle(s)
		return
	}
	switch {
	case s.granted:
		s.door++
		l.admit(s)
	case !l.over() && !s.ended():
		l.hold(s, by, now)
	}
}

// reserved notes the slot that the limiter has given a source, and returns what holds it back
// until then.
func (l *loop) reserved(s *source, now time.Time) HeldBy {
	p, due, told := s.place, s.lead().Due, s.told
	if due.After(p.slot) {
		p.gap, p.slot = min(due.Sub(p.slot), max(0, due.Sub(now))), due
	}
	if told == nil {
		return HeldByRate
	}
	s.told = nil
	l.shut(*told, now)
	l.shutOne(s, now) // that may have been told before
	return HeldByGate
}

// settle tells what an attempt was judged to be, ends the targets for which it was the last,
// and plans the next attempt of the others.
func (l *loop) settle(s *source) {
	s.count()
	p, first, session, told := s.place, s.lead(), s.lead().session, s.told
	s.told = nil
	if s.list == nil {
		l.settleWaits(s)
	} else {
		l.settleList(s)
	}
	if h, ok := session.(holder); ok {
		h.Release()
	}
	s.sharing.forget()
	p.usual = max(first.median(), p.usual-p.usual/8)
	l.sleep(s, time.Time{})
	if s.lent {
		s.lent = false
		p.lent--
	}
	if s.ended() || l.ctx.Err() == nil && !l.brokenOff {
		l.plan(s)
	}
	l.leave(s, p, room)
	l.leave(s, p, worker)
	now := time.Now()
	if told != nil {
		l.shut(*told, now)
	}
	l.shutOne(s, now) // its place may have been closed meanwhile
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
		l.emit(w.event(EventAttempt, now))
		if how = w.ending(); how == "" && !l.single {
			w.slim()
		}
		return how
	})
}

// shut notes, and tells, that a place has asked for a wait, and ends the targets that it is
// closed to until their deadline.
func (l *loop) shut(place Place, now time.Time) {
	p := l.placeOf(place.Name)
	if !place.ClosedUntil.After(p.opens) {
		return
	}
	wait := place.ClosedUntil.Sub(now)
	p.told, p.opens = place, place.ClosedUntil.Add(time.Duration(hintSpread*float64(wait))+clockSpread)
	if l.single && l.live == 0 { // its last event was the end
		return
	}
	l.emit(Event{Kind: EventPlace, At: now, Elapsed: now.Sub(l.Start), Deadline: l.deadline, Place: &place})
	for _, s := range l.sources {
		if s.place == p && !s.busy {
			l.shutOne(s, now)
		}
	}
}

// shutOne ends the targets of a source that waits, if its place is closed until their
// deadline.
func (l *loop) shutOne(s *source, now time.Time) {
	if s.ended() {
		return
	}
	place, deadline := s.place.told, s.lead().deadline
	if s.list != nil { // its elements have deadlines of their own
		deadline = l.deadline
	}
	if deadline.IsZero() || place.ClosedUntil.Before(deadline) || !place.ClosedUntil.After(now) {
		return
	}
	why := fmt.Sprintf("%s is closed for %s (%s)", place.Name, words.Short(place.ClosedUntil.Sub(now)), place.Reason)
	for _, w := range s.all() {
		w.closed = why
	}
	l.end(s)
}

// end ends the targets of a source whose deadline has come, or all of them.
func (l *loop) end(s *source) {
	l.endAll(s, s.lead().stopped())
	l.sleep(s, time.Time{})
	for door := range doors {
		l.leave(s, s.place, door)
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
	waits := &s.waits
	if s.list != nil {
		waits = &s.list.waiting
	}
	*waits = slices.DeleteFunc(*waits, func(w *wait) bool {
		how := ending(w)
		if how != "" {
			l.live--
			l.tellEnd(w, how)
		}
		if s.list != nil && how != "" && how != Succeeded && how != Failed {
			s.list.undecided = true
		}
		return how != ""
	})
}

// tellEnd counts and tells an end.
func (l *loop) tellEnd(w *wait, how Ending) {
	o := w.outcome(how)
	l.Endings[o.Ending]++
	if o.Ending != Succeeded {
		l.failed++
	}
	e := w.event(EventEnd, time.Now())
	e.Attempt, e.Elapsed, e.Outcome, e.State = o.Attempts, o.Elapsed, &o, w.keptAtEnd(o)
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
		if s := l.sources[i]; !s.busy && !s.ended() {
			l.end(s)
		}
	}
}

// stopped returns how the targets end that are not waited for any more: that of the caller, or
// of the goal, and otherwise TimedOut.
func (l *loop) stopped() Ending {
	err := l.caller.Err()
	switch {
	case l.broken() != nil:
		return Failed
	case err != nil && (l.once || !errors.Is(err, context.DeadlineExceeded)):
		return Interrupted
	case errors.Is(context.Cause(l.ctx), Cancelled):
		return Cancelled
	}
	return TimedOut
}

// broken returns the cause with which the caller said that the operation has failed; nil if
// it did not.
func (l *loop) broken() error {
	if cause := context.Cause(l.caller); isPermanent(cause) {
		return cause
	}
	return nil
}

// emit hands an event to the consumer until that breaks off.
func (l *loop) emit(e Event) {
	if !l.brokenOff {
		l.brokenOff = !l.yield(e)
	}
}
