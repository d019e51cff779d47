// Package temporalpoll runs a wait as a [Temporal] activity, so that the wait survives the end of a worker. Each
// attempt at the activity is a step of the wait ([poll.Poller.Step]). The Temporal server waits between attempts,
// and the workflow's history does not grow.
//
//	func Export(ctx context.Context, api, table string) (string, error) {
//		outcome, err := temporalpoll.Step(ctx, poll.Poller{
//			Probe:    poll.HTTP{URL: api + "/exports", Body: []byte("table=" + table)},
//			Schedule: backoff.Exponential{Base: time.Second, Factor: 2},
//		})
//		if err != nil {
//			return "", err
//		}
//		return string(outcome.Observation.Body), nil
//	}
//
// In the activity's options, StartToCloseTimeout limits a single attempt. If an attempt is lost because its worker
// ended, the server makes the next attempt after that time. ScheduleToCloseTimeout limits the wait:
//
//	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
//		StartToCloseTimeout:    30 * time.Second,
//		ScheduleToCloseTimeout: 6 * time.Hour,
//		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
//	})
//
// The RetryPolicy must not limit the number of attempts. Its intervals apply only after a lost attempt. After any
// other attempt, the wait's schedule and the polled server's Retry-After and rate limits determine the interval,
// even beyond MaximumInterval. A service that bills attempts at activities bills each attempt of the wait.
//
// In a workflow test, mock the activity: the test environment skips the time between attempts, but the wait's
// clock does not follow.
//
// [Temporal]: https://temporal.io
package temporalpoll

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A kept value holds the data that one attempt at the activity passes to the next, in the details of its last
// heartbeat.
type kept struct {
	State   poll.State `json:"state"`
	Attempt int32      `json:"attempt"`        // the number of the attempt that stored State; 0 if State was never stored
	Lost    bool       `json:"lost,omitempty"` // an attempt that might have started the operation was lost
}

var (
	errLocal          = errors.New("a local activity keeps nothing from one attempt to the next")
	errNothingKept    = errors.New("the operation is started by the next attempt: nothing was kept before this one")
	errMayHaveStarted = errors.New("the operation may have started: an attempt that was to start it was lost")
)

// Step makes the next attempt of the wait that the activity represents. Call Step once in each attempt at the
// activity, and return its error:
//
//   - If the wait continues, the error is a benign [temporal.ApplicationError] with a NextRetryDelay. Its type is NOT_READY or THROTTLED.
//   - If the wait has ended without SUCCESS, the error is a non-retryable ApplicationError. Its type is the [poll.Ending], such as
//     "failed" or "timed out".
//   - If the worker is shutting down, or the activity was paused or reset, the error is a benign ApplicationError of type "interrupted".
//   - If the worker has a problem, such as a program that cannot run, the RetryPolicy applies to the error.
//   - If the activity was canceled, the error is the cancellation error.
//
// After SUCCESS the error is nil, and the outcome holds the response.
//
// The wait ends in time for a last attempt before the ScheduleToCloseTimeout, or after p.Timeout if p.Timeout is
// shorter. If a HeartbeatTimeout is set, Step sends heartbeats during a long attempt, and stops the attempt when
// the activity is canceled.
//
// Step keeps the wait's State in the details of the activity's heartbeat, so the activity must not send heartbeats
// itself. The details may contain a URL that is itself a secret: use a data converter to encrypt them.
//
// Step replaces p.Starting. An attempt sends a start request, the request that starts an operation, only if the
// server has received the heartbeat of the attempt directly before. Therefore the first attempt never sends a
// start request. If the attempt that should send the start request is lost, the wait fails: the operation may have
// started, and a second request might start it again.
func Step(ctx context.Context, p poll.Poller) (poll.Outcome, error) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity {
		return poll.Outcome{}, final(errLocal, poll.CannotRun)
	}
	var past kept
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &past); err != nil {
			return poll.Outcome{}, fmt.Errorf("continue the wait: %w", err)
		}
	}
	past.Lost = past.Lost || past.Attempt != 0 && past.Attempt != info.Attempt-1
	p.Starting = func(poll.State) error {
		switch {
		case past.Attempt == 0:
			return errNothingKept
		case past.Lost:
			return errMayHaveStarted
		}
		return nil
	}
	if all := info.ScheduleToCloseTimeout; all > 0 && (p.Timeout == 0 || all < p.Timeout) {
		p.Start, p.Timeout = info.ScheduledTime, all
	}
	state, events := stepAlive(ctx, p, past, info.HeartbeatTimeout)
	last := events[len(events)-1]
	if o := last.Outcome; o != nil && o.Ending == poll.Succeeded {
		return *o, nil
	}
	// The SDK sends an attempt's first heartbeat immediately, and its last heartbeat before the attempt's error.
	activity.RecordHeartbeat(context.WithoutCancel(ctx), kept{state, info.Attempt, past.Lost})
	if last.Kind == poll.EventWait {
		return poll.Outcome{}, goOn(state, last.State.Due)
	}
	return *last.Outcome, ended(*last.Outcome, state)
}

// stepAlive calls p.Step. It also sends heartbeats during the call if timeout, the activity's HeartbeatTimeout, is
// positive.
func stepAlive(ctx context.Context, p poll.Poller, past kept, timeout time.Duration) (poll.State, []poll.Event) {
	if timeout > 0 {
		// The SDK delays a heartbeat that follows the previous heartbeat within 80% of the timeout.
		ticker, done := time.NewTicker(timeout*17/20), make(chan struct{})
		var beating sync.WaitGroup
		beating.Go(func() {
			for {
				select {
				case <-ticker.C:
					activity.RecordHeartbeat(ctx, past)
				case <-done:
					return
				}
			}
		})
		defer beating.Wait()
		defer close(done)
		defer ticker.Stop()
	}
	return p.Step(ctx, past.State)
}

// goOn returns the error for a wait that continues. With this error, the Temporal server makes the next attempt at
// the time next.
func goOn(state poll.State, next time.Time) error {
	kind, reason := state.Status, state.Reason
	if kind != status.Throttled {
		kind = status.NotReady // no status yet, or a SUCCESS or ERROR that must repeat before it counts
	}
	if reason == "" {
		reason = "the first attempt is not due yet"
	}
	return retry(reason, string(kind), time.Until(next))
}

// retry returns a benign error with the type kind. The Temporal server makes the next attempt after delay, and
// does not count the error as a failure.
func retry(message, kind string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, kind, temporal.ApplicationErrorOptions{
		Category:       temporal.ApplicationErrorCategoryBenign,
		NextRetryDelay: max(delay, time.Millisecond), // for 0, the server would use the RetryPolicy's interval
	})
}

// ended returns the error for o, the outcome of a wait that was interrupted or has ended without SUCCESS. state is
// the wait's last state.
func ended(o poll.Outcome, state poll.State) error {
	err := o.Err()
	switch {
	case errors.Is(err, errNothingKept):
		return retry(errNothingKept.Error(), string(status.NotReady), 0)
	case o.Ending == poll.Interrupted && temporal.IsCanceledError(o.Cause):
		return o.Cause
	case o.Ending == poll.Interrupted:
		return retry(err.Error(), string(o.Ending), time.Until(state.Due))
	case state.Ended(), o.Unfinished && o.Ending == poll.Failed, errors.Is(err, errMayHaveStarted),
		o.Ending == poll.TimedOut, o.Ending == poll.AttemptsExhausted, o.Ending == poll.ThrottledTooLong:
		return final(err, o.Ending)
	}
	return err
}

// final returns a non-retryable error: the Temporal server makes no further attempt. The error's type is ending.
func final(err error, ending poll.Ending) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), string(ending), nil)
}
