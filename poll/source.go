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
	"github.com/pollcli/poll/status"
)

// A source makes attempts for one wait, or for a list, whose elements have waits of their own. During an attempt
// only the goroutine of the attempt may use the source; at other times, the goroutine that has locked the loop.
type source struct {
	wait    *wait   // sets the schedule; the lead of a list
	list    *list   // nil for a single wait
	limiter Limiter // nil without a limiter
	order   int
	place   *place
	own     line // if it has a limiter of its own

	over   bool      // all targets have ended
	isBusy bool      // it is in the gate, or makes an attempt
	begun  time.Time // when the last attempt began
}

// all returns the waits that have not ended. The lead of a list comes first.
func (s *source) all() []*wait {
	waits := []*wait{s.wait}
	if s.list != nil {
		waits = append(waits, s.list.waiting...)
	}
	return waits
}

// plan plans the next attempt.
func (s *source) plan(now time.Time) {
	w := s.wait
	of := listing{hold: w.toHold(now)}
	if s.list != nil {
		of = s.list.listing(now)
	} else if w.isToConfirm() {
		of.streak = w.Streak
	}
	w.Due, w.LastLook, w.Previous = w.next(of, now)
}

// look runs an attempt, evaluates the response, and reports a refusal or a quota to the limiter.
func (s *source) look() {
	w := s.wait
	pace := newPaced(s)
	o, took := w.look(pace, w.tell)
	if w.stream.isUncounted {
		w.count(w.complete)
	}
	if o.Stopped() {
		if c, ok := o.Failure.Err.(*closing); ok && w.isDeadline(time.Now().Add(c.Wait)) {
			s.endClosed(o.Failure.Reason)
		} else if ok {
			o.Hint = &c.Hint
		}
	}
	w.answered(o, took)
	if second := w.forResult(); s.list == nil && second != nil {
		s.wait, w = second, second
		w.answered(w.look(pace, nil)) // a result has no messages
		w.last.took += took
	}
	if pace != nil {
		w.Limit = cmp.Or(pace.feedBack(s.place.name, w.last.observation, w.last.verdict), w.Limit)
	}
	for _, w := range s.all() {
		if w.p.Finalize != nil && w.Status == status.Success && w.decided() { // here, since it may take its time
			w.final = new(w.p.Finalize(w.outcome(Succeeded)))
		}
	}
}

// endClosed notes that all waits end, since an origin is closed until after their deadline.
func (s *source) endClosed(why string) {
	for _, w := range s.all() {
		w.closedPastDeadline = why
	}
}

// A paced attempt spaces its requests: each request takes a slot of the limiter. The gate has taken the slot of the
// first request to the origin of the attempt.
type paced struct {
	*source
	clock   *clock                    // of the attempt, nil for no limit
	sent    atomic.Pointer[time.Time] // the last request; a probe that has others in it may make some at once
	visited sync.Map                  // the origins of the requests of this attempt
}

// newPaced returns the pace of the requests of an attempt; nil without a limiter. A probe without an origin may
// send requests, too.
func newPaced(s *source) *paced {
	if s.limiter == nil {
		return nil
	}
	p := &paced{source: s}
	p.sent.Store(new(s.begun))
	return p
}

// A closing is the cause of a failure if an origin is closed until after the deadline, or a redirect leads to an
// origin that is closed for long.
type closing struct{ status.Hint }

func (c *closing) Error() string { return "the origin is closed" }

// Wait waits until a request may be sent to place, an origin. The first request to the attempt's own origin does not
// wait. Wait fails at the end of ctx, and at once if the origin is closed until after the deadline. It also fails if a
// redirect leads to an origin that is closed for longer than slowAfter: the waiting attempt would block the other targets of
// its own origin. An attempt that has sent a request to that origin before, as for another page of a list, waits.
func (p *paced) Wait(ctx context.Context, place string) *status.Failure {
	_, again := p.visited.LoadOrStore(place, true)
	if place == p.place.name && !again {
		return nil
	}
	defer p.clock.hold()()
	ends := p.wait.planned.isHTTP && !again
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
		case closed != "" && (p.wait.isDeadline(time.Now().Add(wait)) || ends && wait > slowAfter):
			return &status.Failure{Kind: status.FailureStopped, Reason: closedFor(place, wait, closed), Err: &closing{status.Hint{Wait: wait, Source: closed}}}
		default:
			sleepUntil(ctx, slot)
		}
	}
}

// closedFor returns the reason why an origin gets no request.
func closedFor(place string, wait time.Duration, reason string) string {
	return fmt.Sprintf("%s is closed for %s (%s)", place, words.Short(wait), reason)
}

// Done reports the response to a request to the limiter. It returns whether the request was refused
// for load and may be sent again before the deadline.
func (p *paced) Done(place string, o status.Observation) (again bool) {
	v := status.Verdict{}
	if !o.Good() {
		v = p.wait.p.Rules.Classify(p.wait.run.ctx, o)
	}
	p.feedBack(place, &o, v)
	return v.Status == status.Throttled && (o.Hint == nil || !p.wait.isDeadline(time.Now().Add(o.Hint.Wait)))
}

// feedBack reports a refusal or a quota to the limiter: for the origin that returned the response and, unless
// a redirect led to another host, for the origin of the request. It returns the time for which the origin is
// closed, nil if the origin is open.
func (p *paced) feedBack(place string, o *status.Observation, v status.Verdict) *limit {
	h := meaning.Of(o)
	refused := v.Status == status.Throttled || h.RefusedForLoad(o) // a rule cannot hide a refusal from the limiter
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

// sleepUntil sleeps until a time, at most until ctx is done.
func sleepUntil(ctx context.Context, at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
