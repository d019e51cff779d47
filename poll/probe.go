package poll

import (
	"context"
	"errors"
	"time"

	"github.com/pollcli/poll/poll/internal/body"
	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/status"
)

// An Attempt tells a probe which attempt it makes.
type Attempt struct {
	Number   int           // from 1
	Elapsed  time.Duration // since the start of the run
	Previous status.Status // of the previous attempt; None for the first
	// LastLook is true when there may be no time left for another attempt.
	LastLook bool
}

// A Probe looks at the operation once.
//
// It returns when the answer is complete, or soon after ctx is done; what went
// wrong is part of the observation. A Probe that keeps something from one
// attempt to the next (an ETag, the URL to follow) implements [Sessioner].
type Probe interface {
	Probe(ctx context.Context, a Attempt) status.Observation
}

// A Sessioner is a Probe with state that belongs to one run. A run first asks it
// for a session and then probes that. The Sessioner itself stays unchanged, so
// several runs can use it at once.
type Sessioner interface {
	Probe
	Session() Probe
}

// A Starter is a Probe, or a session, that starts the operation before it looks at it.
// While StartDue reports true, the next attempt is to start it. The first such attempt
// comes at once: there is nothing to wait for yet.
type Starter interface {
	StartDue() bool
}

// A Finisher is a Probe, or a session, whose result may be in another document than the
// answer that said SUCCESS.
//
// Result returns a function that looks at that document, and what it does, in words: "get
// https://api.example.com/results/7". It returns nil if last is the result itself. The
// first look belongs to the attempt that said SUCCESS. Later looks are attempts like any
// other, but the run's rules, which are about the operation, do not apply to them.
type Finisher interface {
	Result(last status.Observation) (look func(context.Context) status.Observation, what string)
}

// Bodies bounds the memory that the answers of several probes take together. The zero
// value is ready for use, and must not be copied.
//
// At most two answers longer than 1 MiB are held at once, each until it was judged. An
// attempt with another one reads no further until one of them is let go, or its context
// ends. Answers of up to 1 MiB are only bounded by the number of attempts at once. For a
// conditional request, an answer is kept if it has at most 32 KiB.
type Bodies = body.Budget

// A Targeter is a Probe that names what it looks at, without secrets.
type Targeter interface {
	Probe
	Target() string
}

// A Checker is a Probe that can tell beforehand that it cannot work. A run asks
// it before the first attempt. The error holds no secret; for a program that
// cannot be run it is a [*status.Failure].
type Checker interface {
	Check() error
}

// The causes with which a run ends the context of an attempt, which a probe gets
// from [context.Cause]. Any other comes from the caller's context.
var (
	// ErrAttemptTimeout ends an attempt that took longer than AttemptTimeout.
	ErrAttemptTimeout = cause.ErrAttemptTimeout
	// ErrDeadline ends the attempt that is under way at the deadline.
	ErrDeadline = cause.ErrDeadline
)

// A ProbeFunc is a function used as a [Probe]. [Observe] makes its result from a document
// or an error.
type ProbeFunc func(ctx context.Context, a Attempt) status.Observation

// Probe calls f.
func (f ProbeFunc) Probe(ctx context.Context, a Attempt) status.Observation { return f(ctx, a) }

// Observe makes the observation of a [ProbeFunc]: a document, or the error that came in
// its place. An error is NOT_READY, a [Permanent] error is ERROR, and a [Throttled] error
// is THROTTLED. Once ctx is done, only a Permanent error counts; any other means that the
// attempt was cut off. The text of the error becomes the reason of the verdict; it should
// hold no secret.
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
		o.Failure = cause.Failure(ctx, ErrAttemptTimeout.Error())
	}
	return o
}

// Permanent marks an error that further attempts cannot mend: the verdict is ERROR. As the
// cause with which the context of a run is canceled, it ends the run as Failed and not as
// Interrupted. Permanent(nil) is nil.
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

// Throttled marks an error caused by asking too often: the verdict is THROTTLED. The next
// attempt comes after wait at the earliest; 0 leaves that to the schedule. Throttled(nil,
// wait) is nil.
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
