package poll

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// An Attempt tells a probe which attempt it makes.
type Attempt struct {
	Number   int           // from 1
	Elapsed  time.Duration // since the start of the run
	Previous status.Status // of the previous attempt; None for the first
	// LastLook is true when there may be no time left for another attempt.
	LastLook bool
	// NoCache is true if a response that a cache had before may not count: the operation was started, or the
	// attempt confirms another. An [HTTP] then sends "Cache-Control: no-cache".
	NoCache bool
	// Accept is that of the wait's Rules.
	Accept []int
	// Tell, unless it is nil, judges a message of a stream, and reports whether the attempt
	// has to end with it: the message decides the wait, or nobody listens any more. The
	// observation that Look returns then does not count. Tell must be called by one
	// goroutine at a time, and not after the attempt. A single wait yields its events on
	// that goroutine; if their consumer minds, Look itself has to call Tell.
	//
	// If no message has decided, the end of the attempt says nothing of the operation,
	// unless it is an error that cannot pass. The next attempt comes after a wait with
	// jitter, and the schedule begins anew.
	Tell func(status.Observation) (decided bool)
}

// tell returns what is told messages: outside a wait the first one is the answer.
func (a Attempt) tell() func(status.Observation) (enough bool) {
	if a.Tell == nil {
		return func(status.Observation) bool { return true }
	}
	return a.Tell
}

// A Probe looks at the operation once.
//
// It returns when the answer is complete, or soon after ctx is done; what went wrong is part of
// the observation. A Probe that keeps something from one attempt to the next, such as an ETag, is
// a [Sessioner]: each wait looks by a session of its own.
type Probe interface {
	Look(ctx context.Context, a Attempt) status.Observation
}

// What a [Probe], or its session, can do besides looking. Each is optional. [Wrap] keeps them all.
type (
	// A Sessioner has state that belongs to one wait. The wait first asks it for a session and
	// then looks by that. The Sessioner itself stays unchanged, so several waits can use it at
	// once.
	Sessioner interface{ Session() Probe }
	// A Starter starts the operation before it looks at it. While StartDue reports true, the
	// next attempt is to start it. The first such attempt comes at once: there is nothing to
	// wait for yet.
	Starter interface{ StartDue() bool }
	// A Finisher has a result that may be in another document than the answer that said
	// SUCCESS. Result returns a function that looks at that document, and what it does, in
	// words: "get https://api.example.com/results/7". It returns nil if last is the result
	// itself. The first look belongs to the attempt that said SUCCESS. Later looks are attempts
	// like any other, but the rules of the wait, which are about the operation, do not apply.
	Finisher interface {
		Result(last status.Observation) (look func(context.Context) status.Observation, what string)
	}
	// A Checker can tell beforehand that it cannot work. The error holds no secret; for a
	// program that cannot be run it is a [*status.Failure].
	Checker interface{ Check() error }
	// A Targeter names what it looks at in events, without secrets.
	Targeter interface{ Target() string }
	// A Placer knows what its next attempt puts load on, for the limits of a [Group]: the
	// scheme, host and port of a URL, the program of a command.
	Placer interface{ Place() string }
	// A Resumer can go on from what an earlier session of the same probe kept. Resume is
	// called before the first attempt; an error means that kept is of no use.
	Resumer interface {
		Save() json.RawMessage
		Resume(kept json.RawMessage) error
	}
)

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

// Look calls f.
func (f ProbeFunc) Look(ctx context.Context, a Attempt) status.Observation { return f(ctx, a) }

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

// Recorded returns an observation that was recorded, or made by hand, with the meaning of its kind: with a Code, that of
// an HTTP response; with an Exit, that of a command. [status.Rules.Classify] then returns the verdict of a wait. A wait
// does the same for what a [ProbeFunc] returns.
func Recorded(o status.Observation) status.Observation { return meaning.Recorded(o) }
