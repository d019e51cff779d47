package poll

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// The steps of admission, in their order. stepTurn calls the Limiter, which may block.
const (
	stepRoom   = iota // one of so many attempts at the place
	stepTurn          // the only one to call the Limiter, and to wait until the request may go
	stepWorker        // one of so many attempts at all places

	stepAttempt // admitted
	stepCount   = stepAttempt
)

// A source is what the loop polls: the session of a probe, for one wait, or a list, whose elements
// have waits of their own. It is in one of three states: asleep in the agenda until it is due; in
// line for a step of its admission; or busy in another goroutine, with the question of a step or
// with the attempt.
type source struct {
	*wait           // which sets the schedule; of a list, its lead
	list    *list   // whose elements have waits of their own, nil for none
	limiter Limiter // nil for none
	order   int
	place   *place

	over         bool // there is nothing more to look for
	busy         bool
	wake         time.Time       // when it wakes
	agendaIndex  int             // its index in the agenda
	step         int             // of its admission that comes next
	acquired     [stepCount]bool // the semaphores that it has acquired
	begun        time.Time       // the attempt that is under way
	isSlow       bool            // that attempt counts for its place only
	granted      bool            // the request may go now
	closedReason string          // why its place is closed until it is due, in words
}

// all returns the waits that have not ended, that of a list first.
func (s *source) all() []*wait {
	waits := []*wait{s.wait}
	if s.list != nil {
		waits = append(waits, s.list.waiting...)
	}
	return waits
}

// advance has a source that is due take its steps, up to stepTurn if it is limited, or to the attempt. It reports false if the source is in line: another has to release a semaphore first.
func (s *source) advance() bool {
	for {
		if s.step == stepTurn && !s.isLimited() {
			s.step++
		}
		if s.step == stepAttempt {
			return true
		}
		hasOwnTurn := s.step == stepTurn && s.p.Limiter != nil // which others do not wait for
		if !hasOwnTurn && !s.acquired[s.step] {
			if !s.place.steps[s.step].acquire(s) {
				return false
			}
			s.acquired[s.step] = true
		}
		if s.step == stepTurn {
			return true
		}
		s.step++
	}
}

// isLimited reports whether a limiter says when the next attempt may go.
func (s *source) isLimited() bool { return s.limiter != nil && s.place.name != "" }

// look makes the attempt, evaluates the response, and reports a refusal or a quota to the limiter.
func (s *source) look() {
	limited := &paced{source: s}
	limited.sent.Store(new(s.begun))
	var pace request.Pace
	if s.limiter != nil { // also of a probe without a place, which may make requests
		pace = limited
	}
	o, took := s.wait.look(pace, s.wait.tell)
	if s.stream.isUncounted {
		s.count(s.complete)
	}
	if o.Stopped() {
		if c, ok := o.Failure.Err.(*closing); ok && s.isPastDeadline(c.Wait) {
			s.endClosed(o.Failure.Reason)
		} else if ok {
			o.Hint = &c.Hint
		}
	}
	s.answered(o, took)
	if second := s.forResult(); s.list == nil && second != nil {
		s.wait = second
		s.answered(s.wait.look(pace, nil)) // a result has no messages
		s.last.took += took
	}
	if pace != nil {
		s.Limit = cmp.Or(limited.feedBack(s.place.name, s.last.observation, s.last.verdict), s.Limit)
	}
	for _, w := range s.all() {
		if w.p.Finalize != nil && w.Status == status.Success && w.decided() { // here, since it may take its time
			w.final = new(w.p.Finalize(w.outcome(Succeeded)))
		}
	}
}

// endClosed notes that all waits end, since a place is closed until after their deadline.
func (s *source) endClosed(why string) {
	for _, w := range s.all() {
		w.closedPastDeadline = why
	}
}

// reserve asks the limiter when the request may go.
func (s *source) reserve() {
	var had time.Time
	if s.Reserved {
		had = s.Due
	}
	s.Due, s.closedReason = s.limiter.Next(s.place.name, had)
	s.granted, s.Reserved = !s.Due.After(time.Now()), true
}

// A paced source spaces the requests of an attempt: each request takes a slot of the limiter. The loop has
// taken the slot of the first request to the place of the source.
type paced struct {
	*source
	sent    atomic.Pointer[time.Time] // the last request; a probe that has others in it may make some at once
	visited sync.Map                  // the places of the requests of this attempt
}

// A closing is the cause of a failure if an origin is closed until after the deadline, or a redirect leads to an
// origin that is closed for long.
type closing struct{ status.Hint }

func (c *closing) Error() string { return "the origin is closed" }

// isPastDeadline reports whether a wait from now on lasts longer than the deadline allows.
func (w *wait) isPastDeadline(wait time.Duration) bool {
	return !w.deadline.IsZero() && wait > time.Until(w.deadline)
}

// Wait waits until a request may go to a place. It fails at the end of ctx, and at once if the place is closed
// until after the deadline. It fails, too, if a redirect leads to a place that is closed for longer than slowAfter:
// the attempt would count for its own place meanwhile, and hold up targets there that need no redirect. An attempt that
// has been at that place before, as for another page of a list, waits.
func (p *paced) Wait(ctx context.Context, place string) *status.Failure {
	_, again := p.visited.LoadOrStore(place, true)
	if place == p.place.name && !again {
		return nil
	}
	ends := p.planned.isHTTP && !again
	var slot time.Time
	for {
		var closed string
		slot, closed = p.limiter.Next(place, slot)
		switch wait := time.Until(slot); {
		case ctx.Err() != nil:
			return meaning.Stopped(ctx, ErrAttemptTimeout.Error())
		case wait <= 0:
			p.sent.Store(new(time.Now()))
			return nil
		case closed != "" && (p.isPastDeadline(wait) || ends && wait > slowAfter):
			return &status.Failure{Kind: status.FailureStopped, Reason: closedFor(place, wait, closed), Err: &closing{status.Hint{Wait: wait, Source: closed}}}
		default:
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
}

// closedFor returns the reason why a place gets no request.
func closedFor(place string, wait time.Duration, reason string) string {
	return fmt.Sprintf("%s is closed for %s (%s)", place, words.Short(wait), reason)
}

// Done reports the response to a request to the limiter. It returns whether the request was refused
// for load and may be sent again before the deadline.
func (p *paced) Done(place string, o status.Observation) (again bool) {
	v := status.Verdict{}
	if !o.Good() {
		v = p.p.Rules.Classify(p.run.ctx, o)
	}
	p.feedBack(place, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || p.deadline.IsZero() || o.Hint.Wait < time.Until(p.deadline))
}

// feedBack reports a refusal or a quota to the limiter: for the origin that returned the response and, unless
// a redirect led to another host, for the place of the request. It returns the time for which the origin is
// closed, nil if the origin is open.
func (p *paced) feedBack(place string, o *status.Observation, v status.Verdict) *limit {
	h := meaning.Of(o)
	refused := v.Status == status.Throttled || h.RefusedForLoad(o) // whatever a rule makes of the response
	if o.Stopped() || !refused && o.Quota == nil {
		return nil
	}
	f := Feedback{Sent: *p.sent.Load(), Refused: refused, Reason: v.Reason}
	if refused && o.Hint != nil {
		f.Wait, f.Reason = o.Hint.Wait, o.Hint.Source
	}
	if o.Quota != nil {
		f.Remaining, f.Reset = o.Quota.Remaining, o.Quota.Reset
	}
	if !refused {
		f.Reason = "nothing remains of its rate limit"
	}
	if h.Elsewhere || place == h.Origin {
		place = ""
	}
	for _, name := range []string{h.Origin, place} {
		if name != "" {
			p.limiter.Done(name, f)
		}
	}
	closed := &limit{Place: cmp.Or(h.Origin, place), At: time.Now(), Wait: f.closes(), Reason: f.Reason}
	if closed.Place == "" || closed.Wait <= 0 {
		return nil
	}
	return closed
}

// A semaphore lets so many sources through at once. The others stand in line.
type semaphore struct {
	most  int // 0 = no limit
	taken int
	line  []*source
}

// acquire lets s through, or puts it in line.
func (m *semaphore) acquire(s *source) bool {
	if m.most > 0 && m.taken >= m.most {
		m.line = append(m.line, s)
		return false
	}
	m.taken++
	return true
}

// release lets the next in line through, which it returns; nil if there is none.
func (m *semaphore) release() *source {
	for len(m.line) > 0 {
		next := m.line[0]
		m.line = m.line[1:]
		if !next.over {
			return next
		}
	}
	m.taken--
	return nil
}

// A place is what attempts put load on. Before an attempt begins, its source takes the steps of
// admission there.
type place struct {
	name    string
	planned int // how many sources in the agenda are of this place
	steps   [stepCount]*semaphore
	opens   time.Time // the latest time of opening that was reported
}

// placeOf returns the place that the next attempt of a source puts load on.
func (l *loop) placeOf(s *source) *place {
	name := s.planned.Origin
	if p := l.places[name]; p != nil {
		return p
	}
	p := &place{name: name, steps: [stepCount]*semaphore{{}, {most: 1}, &l.workers}}
	if name != "" && l.ParallelPlace != nil {
		p.steps[stepRoom].most = l.ParallelPlace(name)
	}
	l.places[name] = p
	return p
}
