// Package temporalpoll runs a wait as an activity of [Temporal], so that the wait survives the end of a worker. Each attempt
// at the activity is a step of the wait ([poll.Poller.Step]). Between attempts the Temporal server waits, and the history
// of the workflow does not grow.
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
// In the options of the activity, StartToCloseTimeout limits an attempt. If an attempt is lost with its worker, the next
// attempt follows after that time. ScheduleToCloseTimeout limits the wait:
//
//	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
//		StartToCloseTimeout:    30 * time.Second,
//		ScheduleToCloseTimeout: 6 * time.Hour,
//		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
//	})
//
// The RetryPolicy must not limit the attempts. Its intervals apply only after an attempt that was lost. After every other
// attempt, the schedule of the wait and the requests of the polled server apply, even beyond MaximumInterval. A service
// that bills attempts bills each attempt of the wait.
//
// In tests of a workflow, mock the activity: the test environment skips the time between attempts, but the clock of the
// wait does not follow.
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

// kept is the data that an attempt at the activity passes to the next attempt, as the details of its last heartbeat.
type kept struct {
	State   poll.State `json:"state"`
	Attempt int32      `json:"attempt"`        // attempt that stored State; 0 if no attempt did
	Lost    bool       `json:"lost,omitempty"` // an attempt was lost that might have started the operation
}

var (
	errLocal          = errors.New("a local activity keeps nothing from one attempt to the next")
	errNothingKept    = errors.New("the operation is started by the next attempt: nothing was kept before this one")
	errMayHaveStarted = errors.New("the operation may have started: an attempt that was to start it was lost")
)

// Step makes the next attempt of the wait that the activity stands for. Call Step once in each attempt at the activity, and
// return its error:
//
//   - If the wait continues, the error is a benign [temporal.ApplicationError] with a NextRetryDelay, of type NOT_READY or
//     THROTTLED.
//   - If the wait has ended without SUCCESS, the error is an ApplicationError that is not retryable. The type is the
//     [poll.Ending], such as "failed" or "timed out".
//   - If the worker is shutting down, or the activity was paused or reset, the error is a benign ApplicationError of type
//     "interrupted".
//   - If the worker has a problem, such as a program that cannot be run, the error is subject to the RetryPolicy.
//   - If the activity was canceled, the error is the error of the cancellation.
//
// After SUCCESS the error is nil, and the outcome holds the response.
//
// The wait ends before the ScheduleToCloseTimeout, with time for a last attempt, or after p.Timeout if p.Timeout is
// shorter. With a HeartbeatTimeout, Step sends heartbeats during a long attempt, and stops the attempt when the activity
// is canceled.
//
// Step owns the heartbeat of the activity, and keeps the State in its details. The details may hold a URL that is itself a
// secret: use a data converter to encrypt them. Step replaces p.Starting. An attempt sends a start request only if the
// server has the heartbeat of the attempt directly before. So the first attempt never sends a start request. If the
// attempt that had to send the start request is lost, the wait has failed: the operation may have started, and a second
// request might start it again.
func Step(ctx context.Context, p poll.Poller) (poll.Outcome, error) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity {
		return poll.Outcome{}, final(errLocal, poll.CannotRun)
	}
	var past kept
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &past); err != nil {
			return poll.Outcome{}, fmt.Errorf("go on with the wait: %w", err)
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
	// The SDK sends the first heartbeat of an attempt immediately, and the last heartbeat before the error of the attempt.
	activity.RecordHeartbeat(context.WithoutCancel(ctx), kept{state, info.Attempt, past.Lost})
	if last.Kind == poll.EventWait {
		return poll.Outcome{}, goOn(state, last.State.Due)
	}
	return *last.Outcome, ended(*last.Outcome, state)
}

// stepAlive calls p.Step. If timeout, the HeartbeatTimeout, is greater than 0, it sends heartbeats during the call.
func stepAlive(ctx context.Context, p poll.Poller, past kept, timeout time.Duration) (poll.State, []poll.Event) {
	if timeout > 0 {
		// The SDK delays heartbeats that follow each other faster than 80% of the timeout.
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

// goOn returns the error of a wait that continues: the server makes the next attempt at the time next.
func goOn(state poll.State, next time.Time) error {
	kind, reason := state.Status, state.Reason
	if kind != status.Throttled {
		kind = status.NotReady // no status yet, or a SUCCESS or ERROR that has not reached its threshold
	}
	if reason == "" {
		reason = "the first look is not due yet"
	}
	return retry(reason, string(kind), time.Until(next))
}

// retry returns a benign error of type kind: the server makes the next attempt after delay, and counts no failure.
func retry(message, kind string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, kind, temporal.ApplicationErrorOptions{
		Category:       temporal.ApplicationErrorCategoryBenign,
		NextRetryDelay: max(delay, time.Millisecond), // 0 would mean the interval of the RetryPolicy
	})
}

// ended returns the error for o, the outcome of a wait that was interrupted or has ended without SUCCESS.
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
		o.Ending == poll.TimedOut, o.Ending == poll.AttemptsExhausted, o.Ending == poll.HintTooLong:
		return final(err, o.Ending)
	}
	return err
}

// final returns an error that is not retryable: the server makes no further attempt. Its type is ending.
func final(err error, ending poll.Ending) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), string(ending), nil)
}
