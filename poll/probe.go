package poll

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// A Probe checks an operation once.
//
// Check returns when the response is complete, or soon after ctx is done. It returns failures as part of the
// observation. It must not modify the Probe, so that several waits can use the Probe at the same time. To
// continue in a different way, for example at a URL that a response named, Check returns another probe in
// [Report.Next]. If Check calls another probe, it must pass on ctx and a; see [Attempt].
type Probe interface {
	Check(ctx context.Context, a Attempt) Report
	// Plan describes the attempt that Check would make.
	Plan() Plan
}

// A Report is the result of one attempt.
type Report struct {
	status.Observation
	// Next is the probe for the next attempt. Nil means the same probe again.
	Next Probe
	// Position describes Next as JSON, so that a later run can continue: [Plan.Resume] of the original probe
	// recreates Next from Position. Position may contain cookies, but no header and no other credentials, which
	// come from the original probe. Nil means that a later run can use the original probe.
	Position json.RawMessage
	// Result is the probe that fetches the operation's result, if the Observation means SUCCESS and the result
	// is in another document. Nil means that the Observation contains the result. The first Check of Result
	// belongs to the same attempt, and any further Check is an attempt of its own. The wait's rules do not
	// apply to the result, because they describe the operation.
	Result Probe
}

// A Plan describes an attempt to the wait that is going to make the attempt. The zero value describes an
// attempt that may be repeated any number of times.
type Plan struct {
	// Name is the name of the target in events. It must not contain a secret.
	Name string
	// Origin identifies the server or program that the attempt uses, so that the limits of a [Group] can apply
	// to it: the scheme, host and port of a URL, or the program of a command.
	Origin string
	// Once is true if the attempt starts the operation. Such an attempt does not wait for the schedule. Before
	// it, the wait records in its State that the operation may have started.
	Once bool
	// Invalid is the reason why no attempt can succeed, without secrets. It is nil if an attempt may succeed,
	// and a [*status.Failure] if a program cannot be run.
	Invalid error
	// Resume returns the probe that continues from a [Report.Position] of an earlier run. It returns an error
	// if the position cannot be used. For a nil position, it returns the probe of the first attempt. A nil Resume
	// means that the probe has no positions.
	Resume func(position json.RawMessage) (Probe, error)

	isHTTP    bool // the probe is an HTTP, which applies some limits to each request by itself
	streams   bool // each message of a response is evaluated when it arrives
	lines     bool // the messages are the output lines of a command
	continues bool // each attempt depends on the Report.Next of the previous attempt
	start     request.Start
}

// The causes with which a run ends the context of an attempt; see [context.Cause]. Any other cause comes from
// the caller's context.
var (
	// ErrAttemptTimeout is the cause if the attempt exceeded AttemptTimeout.
	ErrAttemptTimeout = meaning.ErrAttemptTimeout
	// ErrDeadline is the cause if the wait's deadline came during the attempt.
	ErrDeadline = meaning.ErrDeadline
)

// A ProbeFunc is a function used as a [Probe]. [Observe] creates a suitable result.
type ProbeFunc func(ctx context.Context, a Attempt) status.Observation

// Check calls f.
func (f ProbeFunc) Check(ctx context.Context, a Attempt) Report {
	return Report{Observation: f(ctx, a)}
}

// Plan returns the zero Plan.
func (f ProbeFunc) Plan() Plan { return Plan{} }

// failingProbe is a probe whose attempts cannot succeed, because of err.
type failingProbe struct {
	name string
	err  error
}

func (p failingProbe) Plan() Plan { return Plan{Name: p.name, Invalid: p.err} }

func (p failingProbe) Check(context.Context, Attempt) Report {
	return Report{Observation: status.Observation{Kind: status.KindHTTP, Failure: request.Hopeless(p.err), Protocol: meaning.HTTP{}}}
}

// Wrap returns a Probe that calls the function check in place of p.Check. The argument next of the function
// calls p.Check, and returns its Observation. The function must pass its context and its Attempt to next; see
// [Attempt]. The function can prepare the attempt, or change the observation.
// Wrap also wraps the probes that p returns for later attempts and for the result, so operations are started
// only once, and a later run can resume them. The Plan is the Plan of p. Wrap returns nil if p is nil. If check
// is nil, no attempt can succeed.
//
// The function should return the Observation of next, or a modified copy. It may also return a new Observation
// without a Failure, for example from [Observe]. The new Observation then counts as the last response of next
// with a different body: a 202 remains a 202, and a failure remains a failure. Since the new body stands for
// the whole response, further pages are dropped, and a list is complete only with Known or Expect. If the
// function did not call next, its Observation is evaluated like the Observation of a [ProbeFunc]. If next would
// have sent a start request, an Observation without a Failure is NOT_READY instead.
//
// The messages of a stream do not pass through the function. To see the messages, replace Attempt.Message
// before calling next.
//
// If several waits use p, the function may be called concurrently. The function may call next from several
// goroutines, but the calls run one after another. When the function returns, its context is canceled, and the
// attempt ends as soon as a call of next that is still running has returned.
func Wrap(p Probe, check func(ctx context.Context, a Attempt, next func(context.Context, Attempt) status.Observation) status.Observation) Probe {
	switch {
	case p == nil:
		return nil
	case check == nil:
		return failingProbe{p.Plan().Name, errors.New("the function of Wrap is nil")}
	}
	return wrapped{p, check}
}

// wrapped is the Probe that Wrap returns.
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
	turn := make(chan struct{}, 1) // held during a call of next, so that calls run one after the other
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
	turn <- struct{}{} // wait for a call that is still running
	isOver = true
	<-turn
	seen := last.Observation
	last.Next, last.Result = Wrap(next, w.check), Wrap(last.Result, w.check)
	if last.Observation = o; isMade && seen.Kind != status.KindCustom && o.Kind == status.KindCustom && o.Failure == nil {
		last.Observation = seen // o is a new Observation: it replaces only the body of the response
		last.Body, last.Size, last.Output, last.Pages = o.Body, o.Size, o.Output, o.Pages
		last.LeftOut = len(seen.Pages) > len(o.Pages)
	}
	return last
}

// Observe returns the observation for the result of a [ProbeFunc]. If err is nil, body is the response, and the
// observation has no failure. Otherwise err is the failure. An error means NOT_READY, except that a [Permanent]
// error means ERROR and a [Throttled] error means THROTTLED. If ctx is done, an error other than a Permanent
// one means that the attempt was interrupted. The text of err is used in the reason of the verdict, so it must
// not contain a secret.
func Observe(ctx context.Context, body []byte, err error) status.Observation {
	o := status.Observation{Body: body, Size: int64(len(body))}
	if err == nil {
		return o
	}
	o.Failure = &status.Failure{Reason: err.Error(), Err: err}
	if e, ok := errors.AsType[*throttledError](err); ok {
		o.Failure.Kind = status.FailureThrottled
		if e.wait > 0 {
			o.RetryAfter = &status.RetryAfter{Wait: e.wait, Source: "the probe"}
		}
	}
	if isPermanent(err) {
		o.Failure.Kind = status.FailureHopeless
	} else if ctx.Err() != nil {
		o.Failure = meaning.Stopped(ctx, ErrAttemptTimeout.Error())
	}
	return o
}

// Permanent marks err as an error that no further attempt can change, so the verdict is ERROR. If the context
// of a run is canceled with a Permanent cause, the run ends with Failed instead of Interrupted. Permanent(nil)
// returns nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// isPermanent reports whether err is, or wraps, an error from Permanent.
func isPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// Throttled marks err as caused by too many requests, so the verdict is THROTTLED. The next attempt is made
// after wait at the earliest; if wait is 0, only the schedule applies. Throttled(nil, wait) returns nil.
func Throttled(err error, wait time.Duration) error {
	if err == nil {
		return nil
	}
	return &throttledError{err, wait}
}

type throttledError struct {
	error
	wait time.Duration
}

func (e *throttledError) Unwrap() error { return e.error }

// Recorded completes o, an observation that was recorded or constructed, so that [status.Rules.Classify]
// returns the same verdict as in a wait. If o has a Code, o is treated as an HTTP response. If o has an Exit, o
// is treated as the end of a command. Otherwise o.Kind decides. A wait does the same with the observations of a
// [ProbeFunc].
func Recorded(o status.Observation) status.Observation { return meaning.Recorded(o) }
