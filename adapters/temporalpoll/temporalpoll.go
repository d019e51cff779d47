// Package temporalpoll makes a wait an activity of [Temporal], so that it outlives whoever
// waits. Each attempt at the activity is a step of the wait ([poll.Poller.Step]); between
// attempts the server waits, and the history of the workflow does not grow.
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
// Its options limit an attempt by StartToCloseTimeout, after which another one follows that
// was lost with its worker, and the wait by ScheduleToCloseTimeout:
//
//	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
//		StartToCloseTimeout:    30 * time.Second,
//		ScheduleToCloseTimeout: 6 * time.Hour,
//		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
//	})
//
// The RetryPolicy must not limit the attempts. Its intervals are for attempts that were
// lost; between those that were not, the wait's schedule and what the server asks for hold,
// also beyond MaximumInterval. Each attempt is billed as one where attempts are.
//
// In tests of a workflow, mock the activity: the test environment skips the time between
// attempts, but not that of the wait.
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

// kept is what an attempt at the activity leaves to the next one: the details of its last
// heartbeat.
type kept struct {
	State   poll.State `json:"state"`
	Attempt int32      `json:"attempt"`        // after which that was the state; 0 for none
	Lost    bool       `json:"lost,omitempty"` // an attempt that might have started the operation
}

var (
	errLocal          = errors.New("a local activity keeps nothing from one attempt to the next")
	errNothingKept    = errors.New("the operation is started by the next attempt: nothing was kept before this one")
	errMayHaveStarted = errors.New("the operation may have started: an attempt that was to start it was lost")
)

// Step makes the next attempt of the wait that is the activity. It is called once in each
// attempt at the activity, which returns its error, a [temporal.ApplicationError]:
//
//   - The wait goes on: benign, with a NextRetryDelay, of type NOT_READY or THROTTLED.
//   - It has ended without SUCCESS: not retryable. The type is the [poll.Ending] in words,
//     such as "failed" or "timed out".
//   - The worker is shutting down, or the activity was paused or reset: benign, of type
//     "interrupted".
//   - Something is wrong with the worker, such as a program that cannot be run there: for the
//     RetryPolicy.
//
// If the activity was canceled, that is the error. After SUCCESS there is none, and the
// outcome has the answer.
//
// The wait ends before the ScheduleToCloseTimeout, with time for a last look, or by
// p.Timeout if that is shorter. With a HeartbeatTimeout, a look that takes longer is
// reported meanwhile, and stopped when the activity is canceled.
//
// The heartbeat of the activity belongs to Step, which keeps the State in its details. They may
// hold a URL that is itself a secret, for which there are data converters. p.Starting belongs to
// it, too: a request that starts the operation is sent only by an attempt that follows directly on
// one whose heartbeat the server has. So a start needs an attempt before it, and where the
// one that was to send it is lost the wait has failed: the operation may have started, and a
// second request might start it again.
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
	// The SDK sends the first heartbeat of an attempt at once, and the last before its error.
	activity.RecordHeartbeat(context.WithoutCancel(ctx), kept{state, info.Attempt, past.Lost})
	if last.Kind == poll.EventWait {
		return poll.Outcome{}, goOn(state, last.State.Due)
	}
	return *last.Outcome, ended(*last.Outcome, state)
}

// stepAlive is p.Step, with heartbeats meanwhile.
func stepAlive(ctx context.Context, p poll.Poller, past kept, timeout time.Duration) (poll.State, []poll.Event) {
	if timeout > 0 {
		// The SDK holds back what comes sooner than 80% of the timeout.
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

// goOn returns the error after which the server waits until next.
func goOn(state poll.State, next time.Time) error {
	kind, reason := state.Status, state.Reason
	if kind != status.Throttled {
		kind = status.NotReady // nothing was seen, or a SUCCESS or ERROR short of its threshold
	}
	if reason == "" {
		reason = "the first look is not due yet"
	}
	return retry(reason, string(kind), time.Until(next))
}

// retry returns an error after which another attempt comes after delay, as is usual.
func retry(message, kind string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, kind, temporal.ApplicationErrorOptions{
		Category:       temporal.ApplicationErrorCategoryBenign,
		NextRetryDelay: max(delay, time.Millisecond), // 0 would be that of the RetryPolicy
	})
}

// ended returns the error of a wait that has ended without SUCCESS.
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

// final returns an error after which no attempt comes.
func final(err error, ending poll.Ending) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), string(ending), nil)
}
