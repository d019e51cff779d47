package poll

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

const (
	defaultParallel = 50
	// patience is how long slots are given back at the end.
	patience = 500 * time.Millisecond
	// clockSpread is by how much two readings of another clock may differ.
	clockSpread = 100 * time.Millisecond
)

// Why the targets of a group that have not ended are cancelled.
var (
	errReached    = fmt.Errorf("%w: the goal was reached", Cancelled)
	errOutOfReach = fmt.Errorf("%w: the goal is out of reach", Cancelled)
	errBrokenOff  = fmt.Errorf("%w: the consumer broke off", Cancelled)
)

// An engine runs a group. It plans, and tells what happens, in the consumer's goroutine,
// and makes the attempts in others. A source belongs to one of them while its attempt is
// under way. Nothing waits in a goroutine of its own.
type engine struct {
	Group
	emitter
	solo    bool // its one target is no target of a group
	caller  context.Context
	ctx     context.Context // done with the caller's, at the deadline, or once the goal is decided
	cancel  context.CancelCauseFunc
	release context.CancelFunc

	sources  []*source      // that had a run to begin with
	waiting  queue[*source] // until they are due
	claiming queue[*source] // that are to learn whose turn it is
	answered queue[*source] // by the attempt of another process
	held     queue[*source] // by a gate, although a deadline of their own comes before the group's
	gates    *gatekeeper
	earliest time.Time // the first deadline of a target
	live     int       // targets that have not ended, and lists that are not over
	failed   int       // targets, and lists, that have ended without success
	lists    int       // that are not over
	growing  int       // those of them that may find more targets
	short    int       // how many more targets the lists should have had

	workers, running int
	begun, done      chan task
	news             news
	summary          Summary
}

// A task is what a goroutine of an engine does: an attempt of a source, or to find out whose
// turn it is to make one, or a question to the limiter, perhaps about a gate.
type task struct {
	source  *source
	attempt bool
	gate    *gate
	do      func() // unless it is an attempt
}

func newEngine(ctx context.Context, g Group, yield func(Event) bool) *engine {
	if g.Start.IsZero() {
		g.Start = time.Now()
	}
	if g.ID == 0 {
		g.ID = newRunID()
	}
	if g.Rand == nil {
		g.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if g.Parallel <= 0 {
		g.Parallel = defaultParallel
	}
	e := &engine{
		Group:   g,
		caller:  ctx,
		waiting: byDue(), claiming: byDue(), answered: byDue(),
		news: news{came: make(chan struct{}, 1)},
		held: queue[*source]{
			before: func(a, b *source) bool { return a.deadline().Before(b.deadline()) },
			place:  func(s *source) *int { return &s.held },
		},
		gates:   newGatekeeper(g.Limiter, g.ParallelPlace),
		summary: Summary{Endings: make(map[Ending]int)},
	}
	e.yield = func(ev Event) bool {
		if ev.Kind == EventEnd {
			e.live--
			e.summary.Endings[ev.Outcome.Ending]++
			if ev.Outcome.Ending != Succeeded {
				e.failed++
			}
		}
		return yield(ev)
	}
	ctx, e.cancel = context.WithCancelCause(ctx)
	e.ctx, e.release = ctx, func() {}
	if g.Timeout > 0 {
		e.ctx, e.release = context.WithDeadlineCause(ctx, g.Start.Add(g.Timeout), ErrDeadline)
	}
	return e
}

// close ends the goroutines once no attempt is under way.
func (e *engine) close() {
	e.cancel(errBrokenOff)
	for ; e.running > 0; e.running-- {
		<-e.done
	}
	if e.begun != nil {
		close(e.begun)
	}
	for _, s := range e.sources {
		s.sharing.leave()
	}
	for _, g := range e.gates.gates {
		e.gates.release(g) // others may share its place
	}
	for began := time.Now(); len(e.gates.calls) > 0 && time.Since(began) < patience; e.gates.calls = e.gates.calls[1:] {
		e.gates.calls[0].do()
	}
	e.release()
}

// read makes the sources of the targets. Targets with the same probe have one.
func (e *engine) read(targets iter.Seq[Poller]) {
	shared := make(map[Probe]*source)
	alone := 0
	for p := range targets {
		p.Start, p.Rand = e.Start, e.Rand
		r := newRun(e.ctx, p)
		r.caller = e.caller
		if !r.deadline.IsZero() && (e.earliest.IsZero() || r.deadline.Before(e.earliest)) {
			e.earliest = r.deadline
		}
		if p.Elements != nil {
			e.readList(r)
			if p.Elements.Alone {
				alone = e.Parallel
			}
			continue
		}
		if r.n = e.number(); e.solo {
			r.n = 0
		}
		isPointer := p.Probe != nil && reflect.TypeOf(p.Probe).Kind() == reflect.Pointer
		if isPointer {
			if s := shared[p.Probe]; s != nil && s.runs[0].deadline.Equal(r.deadline) {
				s.runs = append(s.runs, r)
				continue
			}
		}
		s := &source{n: r.n, runs: []*run{r}}
		e.sources = append(e.sources, s)
		if isPointer {
			shared[p.Probe] = s
		}
	}
	e.Parallel = min(e.Parallel, max(1, len(e.sources), alone))
	e.begun, e.done = make(chan task, e.Parallel), make(chan task, e.Parallel)
}

// readList makes the source of a target whose answers hold elements.
func (e *engine) readList(r *run) {
	r.list = newList(r, e.AtLeast, e.number)
	e.sources = append(e.sources, &source{n: len(e.sources) + 1, runs: []*run{r}, list: r.list})
	e.live++
	e.lists++
	if r.Elements.Known == nil {
		e.growing++
	}
}

// number returns the number of a new target.
func (e *engine) number() int {
	e.live++
	e.summary.Targets++
	return e.summary.Targets
}

// loop ends with the last target.
func (e *engine) loop() {
	for i := 0; i < len(e.sources); i++ { // open may add sources
		e.open(e.sources[i])
	}
	for _, s := range e.sources {
		e.plan(s)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		e.wake(now)
		if e.decide(); e.live == 0 || e.stopped || e.ctx.Err() != nil {
			break
		}
		e.begin(now)
		if next, ok := e.next(); ok {
			timer.Reset(time.Until(next))
		} else {
			timer.Stop()
		}
		select {
		case t := <-e.done:
			e.finish(t)
			for range len(e.done) {
				e.finish(<-e.done)
			}
		case <-e.news.came:
			for _, s := range e.news.take() {
				if e.waiting.has(s) {
					e.wait(s)
				}
			}
		case <-timer.C:
		case <-e.ctx.Done():
		}
	}
	e.stop()
}

// open opens a source. A request that starts an operation is not shared.
func (e *engine) open(s *source) {
	if s.open(&e.emitter); len(s.runs) > 1 && s.runs[0].startDue() {
		for _, r := range s.runs[1:] {
			e.sources = append(e.sources, &source{n: r.n, runs: []*run{r}})
		}
		s.runs = s.runs[:1]
	}
	s.share(&e.news)
	if e.Limiter != nil {
		s.pace = e.pace(s)
	}
}

// plan plans the next attempt of a source whose targets have not ended.
func (e *engine) plan(s *source) {
	if len(s.runs) == 0 {
		s.sharing.leave()
		e.gates.leave(s)
		e.leaveList(s)
		return
	}
	e.gates.assign(s)
	crowd := e.gates.crowd(s.gate, s.runs[0].took.median(), e.Parallel)
	for _, r := range s.runs {
		r.crowd = crowd
	}
	s.plan(&e.emitter)
	e.wait(s)
}

// wait has a source wait until it is due, or until there is news for it.
func (e *engine) wait(s *source) {
	e.waiting.remove(s)
	if s.sharing != nil && s.sharing.hasNews.Load() {
		e.claiming.put(s)
	} else {
		e.waiting.put(s)
	}
}

// watch ends a source at a deadline of its own that comes before the group's, should it be
// held back until then.
func (e *engine) watch(s *source) {
	if own, all := s.deadline(), e.deadline(); !own.IsZero() && (all.IsZero() || own.Before(all)) {
		e.held.put(s)
	}
}

// leaveList notes that a list is over, and looks at its elements alone if it is to.
func (e *engine) leaveList(s *source) {
	l := s.list
	if l == nil {
		return
	}
	s.list = nil
	e.lists--
	if l.Known == nil {
		e.growing--
	}
	e.short += l.missing()
	if l.run != nil { // it has not told so itself
		e.live--
	}
	for _, r := range l.alone { // a State that is kept of the list has to come after theirs
		own := &source{n: len(e.sources) + 1, runs: []*run{r}}
		e.sources = append(e.sources, own)
		e.open(own)
		if r.Past == nil {
			r.began = l.run.began
		}
		e.plan(own)
	}
	if l.alone != nil && l.run.last.observation != nil { // it was looked at in this run
		e.emit(l.run.attemptEvent())
	}
}

// wake brings the sources that are due to their gates, once it is known that it is their
// turn, and ends those that were held back until their deadline.
func (e *engine) wake(now time.Time) {
	for {
		s, ok := e.waiting.first()
		if !ok || s.due.After(now) {
			break
		}
		e.waiting.remove(s)
		if s.shares() {
			e.claiming.put(s)
		} else {
			e.admit(s, now)
		}
	}
	for {
		s, ok := e.held.first()
		if !ok || s.deadline().After(now) {
			return
		}
		e.end(s, now)
	}
}

// admit brings a source to its gate.
func (e *engine) admit(s *source, now time.Time) {
	s.gate.ready.put(s)
	e.gates.update(s.gate, now)
	e.watch(s)
}

// end ends the targets of a source that waits, or is held back.
func (e *engine) end(s *source, now time.Time) {
	e.withdraw(s, now)
	s.stop(&e.emitter)
	e.plan(s)
}

// withdraw takes a source out of all queues.
func (e *engine) withdraw(s *source, now time.Time) {
	e.held.remove(s)
	if s.waiting == 0 {
		return
	}
	for _, q := range [...]*queue[*source]{&e.waiting, &e.claiming, &e.answered} {
		if q.has(s) {
			q.remove(s)
			return
		}
	}
	s.gate.ready.remove(s)
	e.gates.update(s.gate, now)
}

// begin begins what is to be done, as far as there is room.
func (e *engine) begin(now time.Time) {
	for e.running < e.Parallel && !e.stopped {
		t, ok := e.task(now)
		if !ok {
			return
		}
		e.running++
		if e.workers < e.running {
			e.workers++
			go e.work()
		}
		e.begun <- t
	}
}

// task returns what is to be done next, if there is anything.
func (e *engine) task(now time.Time) (task, bool) {
	if s, ok := e.answered.first(); ok {
		e.answered.remove(s)
		s.gate.begin(s, now)
		s.slot = Slot{}
		return e.attempt(s), true
	}
	if s, ok := e.claiming.first(); ok {
		e.claiming.remove(s)
		return task{source: s, do: s.sharing.claim}, true
	}
	if len(e.gates.calls) == 0 {
		if s := e.gates.next(now); s != nil {
			return e.attempt(s), true
		}
	}
	if len(e.gates.calls) == 0 {
		return task{}, false
	}
	t := e.gates.calls[0]
	e.gates.calls = e.gates.calls[1:]
	return t, true
}

// attempt begins an attempt.
func (e *engine) attempt(s *source) task {
	e.held.remove(s)
	s.place, s.cut = nil, false
	s.begin(&e.emitter)
	e.summary.Attempts++
	return task{source: s, attempt: true}
}

// work does what is to be done.
func (e *engine) work() {
	for t := range e.begun {
		if t.attempt {
			t.source.look()
			e.inform(t.source)
		} else {
			t.do()
		}
		e.done <- t
	}
}

// finish goes on after something was done.
func (e *engine) finish(t task) {
	e.running--
	switch now := time.Now(); {
	case t.attempt:
		e.settle(t.source, now)
	case t.source != nil:
		e.claimed(t.source, now)
	case t.gate != nil:
		e.gates.answered(t.gate, now)
		e.tellHeld(t.gate, now)
	}
}

// claimed goes on with a source of which it is known whose turn it is.
func (e *engine) claimed(s *source, now time.Time) {
	switch {
	case s.isTaken():
		e.answered.put(s)
		return
	case s.sharing.turn.Ask:
		e.admit(s, now)
		return
	case s.due.After(now) && s.sharing.turn.Until.IsZero(): // there was no news
	default:
		s.due = s.sharing.turn.Until
		s.hold(&e.emitter, s.due, HeldByAnother)
	}
	e.wait(s)
	e.watch(s)
}

// tellHeld tells that the attempt that is due first at a gate is held back, and if others
// have closed its place.
func (e *engine) tellHeld(g *gate, now time.Time) {
	s, ok := g.ready.first()
	if !ok || g.asking || !g.reserved || !g.slot.At.After(now) {
		return
	}
	by, until := HeldByRate, g.slot.ClosedUntil
	if until.After(now) {
		by = HeldByGate
	}
	s.hold(&e.emitter, g.slot.At, by)
	if by == HeldByGate && until.Sub(g.told.ClosedUntil) > clockSpread {
		place := Place{Name: g.name, ClosedUntil: until, Rate: e.Limiter.Rate(g.name), Reason: "another process was told so"}
		e.tell(g, place, now)
	}
}

// settle tells what an attempt was judged to be, and plans the next.
func (e *engine) settle(s *source, now time.Time) {
	g, place, news := s.gate, s.place, s.hasToTell()
	g.end(s)
	switch {
	case s.isTaken():
		e.summary.Taken++
	case s.isAlone():
		e.summary.Alone++
	}
	s.settle(&e.emitter)
	if !e.solo {
		for _, r := range s.runs {
			r.slim()
		}
	}
	e.gates.update(g, now)
	e.plan(s)
	if news {
		if !g.asking {
			e.gates.release(g)
		}
		e.gates.update(g, now)
		e.tell(g, *place, now)
	} else if s.waiting > 0 { // its place may have been closed meanwhile
		e.shut(s, now)
	}
}

// inform tells the limiter what an attempt saw.
func (e *engine) inform(s *source) {
	if !e.gates.limits(s.gate) || s.isTaken() {
		return
	}
	v := s.runs[0].last.verdict
	for _, r := range s.runs {
		if r.last.verdict.Status == status.Throttled {
			v = r.last.verdict
		}
	}
	e.learn(s, s.slot, s.runs[0].last.observation, v)
}

// learn tells the limiter what the answer in a slot of an attempt said, and notes what holds
// since at the place of the attempt.
func (e *engine) learn(s *source, slot Slot, o *status.Observation, v status.Verdict) {
	refused := v.Status == status.Throttled
	if o.Stopped() || o.Elsewhere || !refused && o.Quota == nil {
		return
	}
	var place Place
	if hint := cmp.Or(o.Hint, &status.Hint{Source: v.Reason}); refused {
		place = e.Limiter.Throttled(slot, hint.Wait)
		place.Reason = hint.Source
	} else {
		place = e.Limiter.Remaining(slot, o.Quota.Remaining, o.Quota.Reset)
		place.Reason = "nothing remains of its rate limit"
	}
	if place.Name = slot.Place; place.Name == s.gate.name {
		s.place, s.cut = &place, s.cut || refused
	}
}

// hasToTell reports whether what holds at the place of a source is to be told: a changed pace
// alone is not worth that unless a refusal has cut it.
func (s *source) hasToTell() bool {
	place, told := s.place, s.gate.told
	switch {
	case place == nil:
		return false
	case s.cut:
		return !place.ClosedUntil.Equal(told.ClosedUntil) || place.Rate != told.Rate
	}
	return place.ClosedUntil.After(told.ClosedUntil)
}

// tell tells that a place was closed or its rate cut, and ends the targets that it is
// closed to until their deadline.
func (e *engine) tell(g *gate, place Place, now time.Time) {
	g.told = place
	e.emit(Event{Kind: EventPlace, Run: e.ID, At: now, Elapsed: now.Sub(e.Start), Deadline: e.deadline(), Place: &place})
	if e.earliest.IsZero() || place.ClosedUntil.Before(e.earliest) {
		return
	}
	for _, other := range e.sources {
		if other.gate == g && other.waiting > 0 {
			e.shut(other, now)
		}
	}
}

// shut ends the targets of a source that waits, if its place is closed until their
// deadline.
func (e *engine) shut(s *source, now time.Time) {
	place, deadline := s.gate.told, s.deadline()
	if deadline.IsZero() || place.ClosedUntil.Before(deadline) {
		return
	}
	for _, r := range s.runs {
		r.closed = fmt.Sprintf("%s is closed for %s (%s)", place.Name, words.Short(place.ClosedUntil.Sub(now)), place.Reason)
	}
	e.end(s, now)
}

// next returns when something is to be done, unless only an attempt can end.
func (e *engine) next() (next time.Time, ok bool) {
	if s, some := e.waiting.first(); some {
		next, ok = s.due, true
	}
	if s, some := e.held.first(); some && (!ok || s.deadline().Before(next)) {
		next, ok = s.deadline(), true
	}
	if e.running < e.Parallel {
		if slot, some := e.gates.wake(); some && (!ok || slot.Before(next)) {
			next, ok = slot, true
		}
	}
	return next, ok
}

// decide ends the group once its goal was reached, or is out of reach.
func (e *engine) decide() {
	switch have := e.summary.Endings[Succeeded]; {
	case e.live == 0:
	case e.AtLeast > 0 && have >= e.AtLeast:
		e.cancel(errReached)
	case !e.FailFast:
	case e.AtLeast <= 0 && e.failed > 0, e.AtLeast > 0 && e.growing == 0 && have+e.live-e.lists < e.AtLeast:
		e.cancel(errOutOfReach)
	}
}

// stop ends all targets that have not ended. Those whose attempt is under way end with
// it: its context is done.
func (e *engine) stop() {
	if e.stopped {
		e.cancel(errBrokenOff)
	}
	for _, s := range e.sources {
		if s.waiting > 0 {
			e.stopOne(s)
		}
	}
	for e.running > 0 {
		t := <-e.done
		e.running--
		if t.attempt {
			t.source.settle(&e.emitter)
		}
		if t.source != nil {
			e.stopOne(t.source)
		}
	}
}

// stopOne ends the targets of a source that have not ended.
func (e *engine) stopOne(s *source) {
	if len(s.runs) > 0 {
		s.stop(&e.emitter)
	}
	if s.list == nil {
		return
	}
	known := len(e.sources)
	e.leaveList(s)
	for _, own := range e.sources[known:] { // that it has just listed
		e.stopOne(own)
	}
}

// deadline returns the deadline of the group, zero for none.
func (e *engine) deadline() time.Time {
	d, _ := e.ctx.Deadline()
	return d
}

// goalEvent returns the last event.
func (e *engine) goalEvent() Event {
	now := time.Now()
	s := &e.summary
	s.Elapsed = now.Sub(e.Start)
	s.Ending = Succeeded
	if s.Need = e.AtLeast; e.AtLeast <= 0 {
		s.Need = s.Targets + e.short
	}
	if len(e.sources) == 0 || s.Endings[Succeeded] < s.Need || e.AtLeast <= 0 && e.failed > 0 {
		s.Ending = s.ending()
	}
	if s.Ending == Interrupted || s.Ending == TimedOut {
		s.Cause = context.Cause(e.caller)
	}
	return Event{Kind: EventGoal, Run: e.ID, At: now, Elapsed: s.Elapsed, Deadline: e.deadline(), Attempt: s.Attempts, Summary: s}
}
