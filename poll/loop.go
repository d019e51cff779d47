package poll

import (
	"cmp"
	"slices"
	"time"
)

// A loop waits for one target, or for the targets of a group. Each source goes the same round: it sleeps until its
// attempt is due, enters the gate, checks, and concludes. A single wait does so in the
// goroutine of its consumer. In a group each attempt has a goroutine of its own (schedule.go).
type loop struct {
	Group
	*run
	emitter
	score
	gate
	schedule
	single  bool // it has one wait, which is not a target of a group
	sources []*source
}

// driveOne waits for one target.
func (l *loop) driveOne(p Poller) {
	defer l.start(slices.Values([]Poller{p}))()
	s := l.sources[0]
	for l.open(s); !s.over && l.sleep(s) && l.turn(s, func() {}); {
	}
}

// sleep plans the next attempt of a single wait, and sleeps until the attempt is due. It reports false if the wait
// has ended, or if a step ends here.
func (l *loop) sleep(s *source) bool {
	now, w := time.Now(), s.wait
	s.place = l.placeOf(w)
	isKnown := l.stepping && !w.Due.IsZero() // by the last step
	if !isKnown {
		s.plan(now)
	}
	isLater := w.Due.After(now)
	if !isKnown || isLater {
		l.emitWait(w, "", now)
	}
	if l.stepping && (isLater || l.Attempts > 0) && !w.isDeadline(now) && !l.isOver() {
		return false
	}
	sleepUntil(l.ctx, earliest(w.deadline, w.Due))
	if l.isOver() || w.isDeadline(time.Now()) {
		l.end(s)
	}
	return !s.over
}

// turn sends a source through the gate, checks, and concludes. It calls next, with the loop locked, when the source has
// left the line: through the gate, or because the source ends. It reports false without an attempt: the wait has ended,
// or the next step continues the wait.
func (l *loop) turn(s *source, next func()) (ok bool) {
	leave, ok := l.enter(s)
	l.begin(s, ok, next)
	if !ok {
		return false
	}
	defer leave()
	if s.wait.planned.streams { // a stream may last, and other sources are to have their turn
		leave()
	}
	s.look()
	l.conclude(s)
	return true
}

// begin counts an attempt and emits its EventStart. A source that is not through the gate ends, unless the next
// step continues the wait.
func (l *loop) begin(s *source, ok bool, next func()) {
	defer l.lock()()
	defer next()
	if !ok {
		if !l.stepping || l.isOver() || s.wait.closedPastDeadline != "" {
			l.end(s)
		}
		return
	}
	s.begun = time.Now()
	if s.list != nil {
		s.list.lastComplete = false
	}
	for _, w := range s.all() {
		w.begin()
	}
	l.Attempts++
	e := s.wait.event(EventStart, s.begun)
	e.ofStart = s.wait.planned.Once
	l.emit(e)
}

// conclude emits the verdict of an attempt, and ends the targets that need no further attempt.
func (l *loop) conclude(s *source) {
	defer l.lock()()
	s.noteEvidence() // before the events, whose States have it
	if s.list == nil {
		l.concludeWaits(s)
	} else {
		l.concludeList(s)
	}
	if l.isOver() {
		l.end(s)
	}
	l.decide()
}

// end ends the targets of a source that have not ended: the origin or the run ends them, or the deadline has come.
func (l *loop) end(s *source) {
	if !s.over {
		l.endAll(s, cmp.Or(s.wait.stopped(), TimedOut))
	}
}
