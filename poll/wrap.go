package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// Wrap returns a Probe that looks by a function, which is given the Look of p as next. The Probe keeps
// all that p can do besides: its session, so that a start is sent once, its target, its place, and
// what it goes on with in a later run. A look at a result is by the function, too.
//
// The function returns what next has returned, changed as need be. An Observation made anew, as by
// [Observe] without an error, is the one that next returned last with another body: a 202 stays a 202,
// and a failure a failure. Its Body is the whole response then: the further pages are left out, and a list
// without Known and Expect is not complete. If the function has not called next, the Observation is evaluated
// as that of a [ProbeFunc].
//
// The messages of a stream are not given to the function: one that is to see them puts a function of its own
// in the place of Tell before it calls next.
//
// The function may be called from several goroutines if p is used by several waits. It may call next from
// several goroutines: the calls are made one after the other, so that a start is sent once. The context of the
// function is done once the function has returned, and the attempt ends after the call that is under way then.
func Wrap(p Probe, look func(ctx context.Context, a Attempt, next func(context.Context, Attempt) status.Observation) status.Observation) Probe {
	return wrapped{p, look}
}

// A wrapped probe can do what its inner probe can: as finds the methods that it does not have itself.
type wrapped struct {
	inner Probe
	look  func(ctx context.Context, a Attempt, next func(context.Context, Attempt) status.Observation) status.Observation
}

func (w wrapped) Look(ctx context.Context, a Attempt) status.Observation {
	return w.around(ctx, a, w.inner.Look)
}

// around looks by the function around another look.
func (w wrapped) around(ctx context.Context, a Attempt, next func(context.Context, Attempt) status.Observation) status.Observation {
	turn := make(chan struct{}, 1) // a session makes one look at a time
	var seen *status.Observation
	var over bool
	attempt, cancel := context.WithCancel(ctx)
	o := w.look(attempt, a, func(ctx context.Context, a Attempt) status.Observation {
		turn <- struct{}{}
		defer func() { <-turn }()
		if over {
			return status.Observation{Failure: cause.Failure(attempt, ErrAttemptTimeout.Error())}
		}
		o := next(ctx, a)
		seen = &o
		return o
	})
	cancel()
	turn <- struct{}{} // a call that is under way ends first
	over = true
	<-turn
	if seen == nil || seen.Kind == status.KindCustom || o.Kind != status.KindCustom || o.Failure != nil {
		return o
	}
	answer := *seen // which was made anew: it is the same one with another body
	answer.Body, answer.Size, answer.Output, answer.Pages = o.Body, o.Size, o.Output, o.Pages
	answer.LeftOut = len(seen.Pages) > len(o.Pages)
	return answer
}

// Session returns the session of the inner probe, wrapped, too.
func (w wrapped) Session() Probe {
	if s, ok := as[Sessioner](w.inner); ok {
		return wrapped{s.Session(), w.look}
	}
	return w
}

// Result returns what looks at the result of the inner probe, by the function.
func (w wrapped) Result(last status.Observation) (look func(context.Context) status.Observation, what string) {
	f, ok := as[Finisher](w.inner)
	if !ok {
		return nil, ""
	}
	inner, what := f.Result(last)
	if inner == nil {
		return nil, what
	}
	next := func(ctx context.Context, _ Attempt) status.Observation { return inner(ctx) }
	return func(ctx context.Context) status.Observation { return w.around(ctx, Attempt{}, next) }, what
}

// as returns what a probe can do besides looking, or the one that it wraps.
func as[T any](p Probe) (able T, ok bool) {
	for {
		if able, ok = p.(T); ok {
			return able, true
		}
		w, isWrapped := p.(wrapped)
		if !isWrapped {
			return able, false
		}
		p = w.inner
	}
}

// A lookContext is the part of the context of an attempt that an HTTP reads: the limits of its requests.
type lookContext struct {
	pace    request.Pace // nil = none
	timeout time.Duration
	anew    bool // a stream has to say again what it has said
}

type lookContextKey struct{}
