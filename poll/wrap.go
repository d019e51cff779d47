package poll

import (
	"context"
	"encoding/json"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// Wrap returns a Probe that checks p by a function. The function gets the Check of p as next. The Probe has the
// Plan of p, and the function is around the probes of later attempts and of the result, too: a start is sent once,
// and a later run resumes the operation.
//
// The function returns the Observation of next, or a changed copy. It may return a new Observation, as [Observe] makes
// without an error. This stands for the last Observation of next with another body: a 202 stays a 202, and a failure
// stays a failure. Its Body is the whole response then: the further pages are left out, and a list without Known and
// Expect is not complete. If the function has not called next, its Observation is evaluated like the Observation of a
// [ProbeFunc].
//
// The function does not get the messages of a stream. A function that needs them replaces Tell of the Attempt before
// it calls next.
//
// The function may be called from several goroutines if p is used by several waits. It may call next from
// several goroutines: the calls are made one after the other, so that a start is sent once. The context of the
// function is done once the function has returned, and the attempt ends after the call that is under way then.
func Wrap(p Probe, check func(ctx context.Context, a Attempt, next func(context.Context, Attempt) status.Observation) status.Observation) Probe {
	if p == nil {
		return nil
	}
	return wrapped{p, check}
}

type wrapped struct {
	inner Probe
	check func(ctx context.Context, a Attempt, next func(context.Context, Attempt) status.Observation) status.Observation
}

func (w wrapped) Plan() Plan {
	plan := w.inner.Plan()
	if resume := plan.Resume; resume != nil {
		plan.Resume = func(position json.RawMessage) (Probe, error) {
			p, err := resume(position)
			return Wrap(p, w.check), err
		}
	}
	return plan
}

func (w wrapped) Check(ctx context.Context, a Attempt) Report {
	turn := make(chan struct{}, 1) // for one call at a time
	inner := w.inner
	var last Report
	var next Probe
	isMade, isOver := false, false
	attempt, cancel := context.WithCancel(ctx)
	o := w.check(attempt, a, func(ctx context.Context, a Attempt) status.Observation {
		turn <- struct{}{}
		defer func() { <-turn }()
		if isOver {
			return status.Observation{Failure: meaning.Stopped(attempt, ErrAttemptTimeout.Error())}
		}
		position := last.Position
		last, isMade = inner.Check(ctx, a), true
		if last.Next != nil {
			inner, next = last.Next, last.Next
		} else {
			last.Position = position
		}
		return last.Observation
	})
	cancel()
	turn <- struct{}{} // a call that is under way ends first
	isOver = true
	<-turn
	seen := last.Observation
	last.Next, last.Result = Wrap(next, w.check), Wrap(last.Result, w.check)
	if last.Observation = o; isMade && seen.Kind != status.KindCustom && o.Kind == status.KindCustom && o.Failure == nil {
		last.Observation = seen // o was made anew: it is the same response with another body
		last.Body, last.Size, last.Output, last.Pages = o.Body, o.Size, o.Output, o.Pages
		last.LeftOut = len(seen.Pages) > len(o.Pages)
	}
	return last
}
