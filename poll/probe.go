package poll

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// An Attempt describes the attempt that a probe is to make. A probe that checks another probe passes the Attempt on, or
// a changed copy: the requests of an [HTTP] then wait for the [Limiter].
type Attempt struct {
	Number   int           // from 1
	Elapsed  time.Duration // since the start of the run
	Previous status.Status // of the previous attempt; None for the first
	// LastAttempt is true if there may not be enough time for another attempt.
	LastAttempt bool
	// NoCache is true if a response that a cache had before may not count: the operation was started, or the
	// attempt confirms another. An [HTTP] then sends "Cache-Control: no-cache".
	NoCache bool
	// Accept is the field of the wait's Rules.
	Accept []int
	// Message, unless it is nil, evaluates a message of a stream, and reports whether the attempt has to end: the message
	// decides the wait, or the consumer of the events has left. The observation that Check returns then does not
	// count. Message must be called by one goroutine at a time, and not after the attempt. A single wait yields its
	// events on this goroutine. If their consumer needs its own goroutine, Check itself has to call Message.
	//
	// If no message has decided, the end of the attempt means nothing for the operation, unless it is an error that
	// cannot pass. The next attempt comes after a wait with jitter, and the schedule starts anew.
	Message func(status.Observation) (decided bool)

	limits *limits // nil outside a wait
}

// limits are the settings of a wait for the requests of an attempt.
type limits struct {
	request.Attempt          // Pace, Timeout and Anew
	continues       bool     // the wait continues with Report.Next of an HTTP
	started         sync.Map // the start requests ([request.Start]) that the attempt has sent and that are not due again
}

// message returns a.Message. If Message is nil, as outside a wait, the first message is enough: it is the response.
func (a Attempt) message() func(status.Observation) (enough bool) {
	if a.Message == nil {
		return func(status.Observation) bool { return true }
	}
	return a.Message
}

// A Probe checks an operation once.
//
// Check returns when the response is complete, or soon after ctx is done. Failures are part of the
// observation. Check never changes the Probe: [Report.Next] is the probe of the next attempt, which may follow another
// URL. Several waits can use one Probe at once.
type Probe interface {
	Check(ctx context.Context, a Attempt) Report
	// Plan returns the facts that a wait needs before the attempt.
	Plan() Plan
}

// A Report is the result of one attempt.
type Report struct {
	status.Observation
	// Next is the probe of the next attempt; nil means the same probe.
	Next Probe
	// Position is the JSON form of the position of Next. In a later run, [Plan.Resume] of the configured probe
	// makes the same probe of it. Position holds no header and no credentials, which belong to the configured
	// probe, except for cookies. Nil means that a later run can as well use the configured probe.
	Position json.RawMessage
	// Result is the probe that returns the result of the operation, if the Observation means SUCCESS and
	// the result is in another document; nil if the Observation has the result. The first Check of Result
	// belongs to the same attempt. Later ones are attempts of their own. The rules of the wait, which are
	// about the operation, do not apply to the result.
	Result Probe
}

// A Plan has the facts that a wait needs before an attempt. The zero value means that a probe can be checked any
// number of times.
type Plan struct {
	// Name names the target in events, without secrets.
	Name string
	// Origin names the server or program that the attempt uses, for the limits of a [Group]: the scheme, host and
	// port of a URL, the program of a command.
	Origin string
	// Once is true if the attempt starts the operation. Such an attempt comes at once, and the wait keeps in
	// its State that the operation may have started before it is made.
	Once bool
	// Invalid is the reason why no attempt can succeed, without secrets; nil if an attempt can. The reason for a
	// program that cannot be run is a [*status.Failure].
	Invalid error
	// Resume returns the probe at a [Report.Position] of an earlier run. An error means that the position
	// cannot be used. Nil means that the probe has no positions.
	Resume func(position json.RawMessage) (Probe, error)

	isHTTP    bool // the requests have limits of their own
	streams   bool // each message of a response is evaluated
	lines     bool // the messages are lines of a command
	continues bool // each attempt needs the Report.Next of the attempt before
	start     request.Start
}

// The causes with which a run ends the context of an attempt, which a probe gets
// from [context.Cause]. Any other comes from the caller's context.
var (
	// ErrAttemptTimeout ends an attempt that took longer than AttemptTimeout.
	ErrAttemptTimeout = meaning.ErrAttemptTimeout
	// ErrDeadline ends the attempt that is under way at the deadline.
	ErrDeadline = meaning.ErrDeadline
)

// A ProbeFunc is a function that implements [Probe]. [Observe] returns an observation for a document or an
// error.
type ProbeFunc func(ctx context.Context, a Attempt) status.Observation

// Check calls f.
func (f ProbeFunc) Check(ctx context.Context, a Attempt) Report {
	return Report{Observation: f(ctx, a)}
}

// Plan returns the zero Plan.
func (f ProbeFunc) Plan() Plan { return Plan{} }

// impossible is a probe whose attempts cannot succeed.
type impossible struct {
	name string
	err  error
}

func (p impossible) Plan() Plan { return Plan{Name: p.name, Invalid: p.err} }

func (p impossible) Check(context.Context, Attempt) Report {
	return Report{Observation: status.Observation{Kind: status.KindHTTP, Failure: request.Hopeless(p.err), Protocol: meaning.HTTP{}}}
}

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
// The function does not get the messages of a stream. A function that needs them replaces the Message of the Attempt before
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

// Observe returns the observation of a [ProbeFunc]: of the document body or, unless err is nil, of err. An error
// is NOT_READY, a [Permanent] error is ERROR, and a [Throttled] error is THROTTLED. Once ctx is done, only a
// Permanent error counts; any other error means that the attempt was stopped. The text of err becomes the reason
// of the verdict. It must not contain a secret.
func Observe(ctx context.Context, body []byte, err error) status.Observation {
	o := status.Observation{Body: body, Size: int64(len(body))}
	if err == nil {
		return o
	}
	o.Failure = &status.Failure{Reason: err.Error(), Err: err}
	if e, ok := errors.AsType[*throttledError](err); ok {
		o.Failure.Kind = status.FailureThrottled
		if e.wait > 0 {
			o.Hint = &status.Hint{Wait: e.wait, Source: "the probe"}
		}
	}
	if isPermanent(err) {
		o.Failure.Kind = status.FailureHopeless
	} else if ctx.Err() != nil {
		o.Failure = meaning.Stopped(ctx, ErrAttemptTimeout.Error())
	}
	return o
}

// Permanent marks an error that no further attempt can change: the verdict is ERROR. If the context of a run is
// canceled with a Permanent cause, the run ends with Failed and not with Interrupted. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

func isPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// Throttled marks an error caused by too many requests: the verdict is THROTTLED. The next attempt comes after
// wait at the earliest; if wait is 0, the schedule decides. Throttled(nil, wait) is nil.
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

// Recorded returns o, an observation that was recorded or made by hand, with the meaning of its kind: of an HTTP
// response if o has a Code, of a command if o has an Exit, and otherwise of its Kind. [status.Rules.Classify] then
// returns the verdict that a wait would return. A wait does the same with the observations of a [ProbeFunc].
func Recorded(o status.Observation) status.Observation { return meaning.Recorded(o) }
