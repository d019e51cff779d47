package poll

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

const defaultParallel = 50

func newLoop(ctx context.Context, g Group, yield func(Event) bool) *loop {
	if g.Start.IsZero() {
		g.Start = time.Now()
	}
	if g.Rand == nil {
		g.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	invalid := g.validate()
	if g.Parallel <= 0 {
		g.Parallel = defaultParallel
	}
	r := &run{caller: ctx, start: g.Start, rand: g.Rand, invalid: invalid}
	l := &loop{Group: g, run: r, gate: newGate(g.Parallel)}
	l.woken = make(chan struct{}, 1)
	l.emitter = emitter{held: make(chan struct{}, 1), yield: yield}
	r.news = func(e Event) bool {
		defer l.lock()()
		l.emit(e)
		return !l.hasLeft
	}
	l.Endings = make(map[Ending]int)
	return l
}

// start creates the context of all attempts, and the sources of the targets. It returns the function that
// releases the context.
func (l *loop) start(targets iter.Seq[Poller]) (release func()) {
	l.ctx, l.cancel = context.WithCancelCause(l.caller)
	stop := func() {}
	if !l.stepping { // its caller's deadline is not that of the wait
		l.deadline, _ = l.caller.Deadline()
	}
	if l.Timeout != 0 {
		l.deadline = earliest(l.deadline, l.Start.Add(l.Timeout))
	}
	if !l.deadline.IsZero() {
		l.ctx, stop = context.WithDeadlineCause(l.ctx, l.deadline, ErrDeadline)
	}
	for p := range targets {
		w := newWait(l.run, p)
		if p.Elements != nil && !l.single {
			l.addList(w)
			continue
		}
		l.number(w)
		l.add(w)
	}
	return func() {
		stop()
		l.cancel(errOver)
	}
}

// open prepares a source. It ends the targets for which no attempt can succeed, and the targets of ended waits.
func (l *loop) open(s *source) {
	if s.list != nil {
		l.endSome(s, (*wait).endingOfPast)
	}
	how := s.wait.endingOfPast()
	if how == "" {
		how = s.wait.open()
	}
	switch {
	case how != "":
		l.fail(s, how)
	case s.list != nil:
		l.openList(s)
	default:
		s.wait.p.Probe = nil // the wait has the probe of the next attempt
	}
}

// fail ends a source for which no attempt can succeed.
func (l *loop) fail(s *source, how Ending) {
	why := s.wait.hopeless
	if s.wait.Ended() {
		why = errors.New(s.wait.Reason)
	}
	for _, w := range s.all() {
		w.hopeless = why
	}
	l.endAll(s, how)
}
