package poll

import (
	"cmp"
	"context"
	"time"
)

// Step makes the next attempt of a wait and returns the state after it, for the next Step,
// and what happened: the events that [Poller.Events] would yield. It does not wait, so that
// whoever drives the wait can do that elsewhere, such as a workflow engine.
//
// The last event says what comes next. After an EventWait, the next Step is due at its
// NextAt; one that comes sooner makes no attempt and has only that EventWait. After an
// EventEnd the wait has ended as its Outcome says. If the State has not Ended then, as after
// a time-out or when ctx was canceled, a further Step goes on.
//
// The deadline of ctx is that of this Step, not of the wait: it limits the attempt like
// AttemptTimeout, and a tenth of the time, at most 5 s, is left to keep the State.
//
// The first Step is given the zero State. A request that starts an operation is sent once,
// if the State that [Poller.Starting] is given is kept before Starting returns, and the last
// one kept is used where a Step did not return.
func (p *Poller) Step(ctx context.Context, past State) (State, []Event) {
	going := *p
	going.Past = &past
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		left = max(left-min(left/10, maxKeeping), 1)
		going.AttemptTimeout = min(left, cmp.Or(going.AttemptTimeout, left))
		ctx = undated{ctx}
	}
	r := newRun(ctx, going)
	var cancel context.CancelFunc
	r.ctx, cancel = r.untilDeadline()
	defer cancel()
	var events []Event
	e := &emitter{yield: func(ev Event) bool { events = append(events, ev); return true }}
	s := &source{runs: []*run{r}}
	s.open(e)
	if len(s.runs) == 0 {
		return stateAfter(events), events
	}
	planned := !r.due.IsZero()
	s.take(e)
	switch early := time.Until(s.due) > 0; {
	case !sleep(r.ctx, 0):
		s.stop(e)
	case early && planned:
		e.emit(r.waitEvent(s.next))
		return past, events
	case !early:
		s.begin(e)
		s.look()
		if s.settle(e); len(s.runs) > 0 {
			s.plan(e)
		}
	}
	return stateAfter(events), events
}

// maxKeeping is the most that is left of the time of a [Poller.Step] to keep the State.
const maxKeeping = 5 * time.Second

// undated is a context whose deadline is none of the wait: where it comes, the wait is
// interrupted.
type undated struct{ context.Context }

func (undated) Deadline() (time.Time, bool) { return time.Time{}, false }

func (u undated) Err() error {
	if u.Context.Err() != nil {
		return context.Canceled
	}
	return nil
}

// stateAfter returns the state after the last event.
func stateAfter(events []Event) State { return events[len(events)-1].State() }

// take plans the next attempt, unless that was done before.
func (s *source) take(e *emitter) {
	r := s.runs[0]
	if r.due.IsZero() {
		s.plan(e)
		return
	}
	s.due = r.due
	s.next = plan{wait: max(0, time.Until(r.due)), hint: r.hint(), lastLook: r.lastLook}
}
