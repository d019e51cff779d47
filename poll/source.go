package poll

import (
	"bytes"
	"slices"
	"time"

	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A source is what is looked at: the session of a probe, with its schedule. The runs that
// share it judge each of its answers by their own rules; the first of them sets the
// schedule. One attempt of a source is the steps plan, begin, look and settle.
type source struct {
	runs    []*run // that have not ended
	list    *list  // nil unless the answers hold elements; runs is then the list's own
	session Probe
	next    plan
	due     time.Time

	// Of a source in a group:
	n       int // its number, from 1
	gate    *gate
	begun   time.Time // the attempt that is under way
	slot    Slot      // of the attempt that is under way
	place   *Place    // what holds at its place since then, nil if nothing was said
	cut     bool      // because a refusal has cut the rate there
	sharing *sharing
	pace    request.Pace // of the further requests of an attempt, nil for none
	waiting int          // its place in a queue by due time
	held    int          // its place in the queue by deadline
}

// An emitter hands events to a consumer until that breaks off.
type emitter struct {
	yield   func(Event) bool
	stopped bool
}

func (e *emitter) emit(ev Event) {
	if !e.stopped {
		e.stopped = !e.yield(ev)
	}
}

// open opens the session, or ends the runs if no attempt can succeed.
func (s *source) open(e *emitter) {
	if s.list != nil {
		if s.session = s.list.open(e); s.session == nil {
			s.runs = nil
		}
		return
	}
	s.skip(e)
	if len(s.runs) == 0 {
		return
	}
	first := s.runs[0]
	if err := first.open(); err != nil {
		for _, r := range s.runs {
			e.emit(r.endEvent(r.cannotBegin(err)))
		}
		s.runs = nil
		return
	}
	s.session = first.probe
	for _, r := range s.runs[1:] {
		r.probe = first.probe
		if r.began.IsZero() && !r.startDue() {
			r.began = r.Start
		}
	}
}

// skip ends the runs that go on from a past after which there is nothing to do.
func (s *source) skip(e *emitter) {
	s.runs = slices.DeleteFunc(s.runs, func(r *run) bool {
		o, over := r.over()
		if over {
			e.emit(r.endEvent(o))
		}
		return over
	})
}

// plan plans the next attempt and returns when it is due.
func (s *source) plan(e *emitter) time.Time {
	first := s.runs[0]
	s.next = first.plan()
	for _, r := range s.runs[1:] {
		r.previous, r.series = first.previous, first.series
		s.next = r.shorten(s.next)
	}
	waiting := first.waitEvent(s.next)
	s.due = waiting.NextAt
	for _, r := range s.runs {
		r.due, r.lastLook = s.due, s.next.lastLook
	}
	e.emit(waiting)
	for _, r := range s.runs[1:] {
		e.emit(r.waitEvent(s.next))
	}
	return s.due
}

// hold tells that an attempt that is due is held back.
func (s *source) hold(e *emitter, until time.Time, by HeldBy) {
	for _, r := range s.runs {
		held := r.waitEvent(plan{wait: time.Until(until), lastLook: s.next.lastLook})
		held.HeldBy = by
		e.emit(held)
	}
}

// begin begins the attempt.
func (s *source) begin(e *emitter) {
	for _, r := range s.runs {
		r.due, r.lastLook, r.waited = time.Time{}, false, 0
		e.emit(r.startEvent(s.next))
		r.attempts++
	}
	if s.list != nil {
		s.list.begin()
	}
}

// look makes the attempt, and judges it for every run. It emits nothing, so that it can
// be called from another goroutine.
func (s *source) look() {
	o, took := s.observe()
	var shared []byte
	asked := s.sharing.asked() && !o.Stopped() // or else another is to ask at once
	if asked {                                 // before the session goes on to a result
		shared = writeAnswer(o, s.runs[0].probe.(Sharer))
	}
	for _, r := range s.runs {
		r.answered(o, took)
	}
	if asked {
		s.sharing.answered(shared, took)
	}
	if r := s.runs[0]; len(s.runs) == 1 && s.list == nil {
		if _, never := r.unrunnable(); !never {
			r.lookForResult(s.next.lastLook, s.pace)
		}
	}
}

// A holder is a session that holds a place of [Bodies] for its last answer.
type holder interface{ Release() }

// settle emits what the attempt was judged to be. Only the runs that go on remain.
func (s *source) settle(e *emitter) {
	defer s.release()
	defer s.forget()
	s.count()
	if s.list != nil {
		if s.list.settle(e, s.next.lastLook) {
			s.runs = nil
		} else {
			s.session = s.runs[0].probe // a list that asks about fewer has another one
		}
		return
	}
	on := s.runs[:0]
	for _, r := range s.runs {
		if ending, never := r.unrunnable(); never {
			r.attempts--
			e.emit(r.endEvent(r.outcome(ending)))
			continue
		}
		e.emit(r.attemptEvent())
		if ending, over := r.ending(); over {
			e.emit(r.endEvent(r.outcome(ending)))
			continue
		}
		on = append(on, r)
	}
	clear(s.runs[len(on):])
	s.runs = on
}

// release gives back what the last answer holds of [Bodies].
func (s *source) release() {
	if h, ok := s.session.(holder); ok {
		h.Release()
	}
}

// stop ends the runs, since their context is done or their deadline has come. Those of a
// list whose deadline has not come go on.
func (s *source) stop(e *emitter) {
	if s.list != nil {
		if s.list.stop(e) {
			s.runs = nil
		}
		return
	}
	for _, r := range s.runs {
		e.emit(r.endEvent(r.outcome(r.stopped())))
	}
	s.runs = nil
}

// deadline returns the deadline of the runs, zero for none: those that share a source
// have the same.
func (s *source) deadline() time.Time { return s.runs[0].deadline }

// keptBody is how much is kept of an answer that did not end a run in a group, in bytes.
// It is enough for what is told of the last answer.
const keptBody = 8 << 10

// slim returns an observation without what the end of a run in a group does not need of
// it. What was told of it does not change.
func slim(o status.Observation) status.Observation {
	o.Header, o.Remarks, o.Pages, o.Within = nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	return o
}

// slim drops what the end of a run in a group does not need of its last attempt.
func (r *run) slim() {
	r.last.observation, r.last.verdict.Answers = new(slim(*r.last.observation)), nil
}
