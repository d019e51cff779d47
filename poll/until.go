package poll

import (
	"context"
	"errors"
	"time"

	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/status"
)

// Until calls f until f reports that it is done, and returns the value of that
// call. It waits before each call, the first included, by the default schedule of
// a [Poller], and gives up when ctx is done. [UntilWith] sets other limits and
// schedules.
//
// An error of f means that the operation is not ready. A [Permanent] error ends
// the wait, and a [Throttled] one makes it slower. The error of Until is an
// [*Error] that wraps the last error of f; the value is then the last that f
// returned.
func Until[T any](ctx context.Context, f func(ctx context.Context) (value T, done bool, err error)) (T, error) {
	return UntilWith(ctx, Poller{}, f)
}

// UntilWith is like [Until] with the schedule and the limits of p, whose Probe and
// Rules it does not use.
func UntilWith[T any](ctx context.Context, p Poller, f func(ctx context.Context) (value T, done bool, err error)) (T, error) {
	var value T
	p.Rules = status.Rules{}
	p.Probe = ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation {
		var done bool
		var err error
		value, done, err = f(ctx)
		if err == nil && !done {
			err = errNotDone
		}
		return Observe(ctx, nil, err)
	})
	_, err := p.Run(ctx)
	return value, err
}

var errNotDone = errors.New("not done yet")

// Observe makes the observation of a [ProbeFunc]: a document, or the error that
// came in its place. An error is NOT_READY, a [Permanent] error ERROR, and a
// [Throttled] error THROTTLED. Once ctx is done, any other error decides nothing.
// The text of the error becomes the reason of the verdict, so it should hold no
// secret.
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
	if _, ok := errors.AsType[*permanentError](err); ok {
		o.Failure.Kind = status.FailureHopeless
	} else if ctx.Err() != nil {
		o.Failure = cutShort(ctx)
	}
	return o
}

// cutShort is the failure of an attempt of which no more is known than that its
// ctx is done.
func cutShort(ctx context.Context) *status.Failure {
	why := context.Cause(ctx)
	if !errors.Is(why, ErrAttemptTimeout) {
		return cause.Stopped(ctx)
	}
	return &status.Failure{Reason: why.Error(), Err: why}
}

// Permanent marks an error that no further attempt can mend: the verdict is
// ERROR. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// Throttled marks an error that says "asked too often": the verdict is THROTTLED.
// The next attempt comes no sooner than after wait, if that is known; 0 leaves it
// to the poller. Throttled(nil, wait) is nil.
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
