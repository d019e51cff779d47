// Package riverpoll makes a wait a job of [River], which keeps it in Postgres: it outlives
// whoever waits. Each attempt is a step of the wait ([poll.Poller.Step]), and between
// attempts the job is snoozed.
//
//	func (w *exporter) Work(ctx context.Context, job *river.Job[Export]) error {
//		out, err := riverpoll.Step[pgx.Tx](ctx, job.JobRow, poll.Poller{
//			Probe:    poll.HTTP{URL: w.api + "/exports", Body: []byte("table=" + job.Args.Table)},
//			Schedule: backoff.Exponential{Base: time.Second, Factor: 2},
//			Timeout:  6 * time.Hour,
//		})
//		if err != nil {
//			return err
//		}
//		fmt.Printf("%s after %d requests: %s\n", out.State.Status, out.State.Attempts, out.Result)
//		return nil
//	}
//
// A wait may take longer than the JobTimeout of the client, which limits one attempt. After
// a worker was killed in the middle of an attempt, the job goes on once it has been
// running for RescueStuckJobsAfter: an hour, unless the client says otherwise.
//
// [River]: https://riverqueue.com
package riverpoll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/pollcli/poll/poll"
)

// An Output is the output of a job that waits, from its first attempt on: what
// [rivertype.JobRow.Output] has, in JSON.
type Output struct {
	// State is what the wait goes on from. It may hold a URL that is itself a secret.
	State poll.State `json:"state"`
	// Result is the body of the answer that was SUCCESS: as it is if that is JSON that
	// Postgres takes, and otherwise as a string. A NUL, and what is not UTF-8, becomes U+FFFD.
	// River takes at most 32 MiB: a job with more is canceled.
	Result json.RawMessage `json:"result,omitempty"`
}

// Step makes the next attempt of the wait that is the job. It is called once in each Work,
// which returns its error: a snooze until the next attempt, or a cancellation once the wait
// has ended without SUCCESS. Any other error, such as that of a program that cannot be run
// here, is for River's retries. After SUCCESS there is no error; the job may end then, or go
// on with the Result.
//
// TTx is that of the client. The output of the job belongs to Step, and so does p.Starting:
// a request that starts the operation is sent once it is in the database that it may have
// been sent. If the worker is killed then, the job is canceled: the operation may have
// started, and a second request might start it again. Retried by hand, a job whose wait has
// ended ends the same way; insert another one to wait again.
func Step[TTx any](ctx context.Context, job *rivertype.JobRow, p poll.Poller) (Output, error) {
	client, err := river.ClientFromContextSafely[TTx](ctx)
	if err != nil {
		return Output{}, err
	}
	return step(ctx, job, p, func(ctx context.Context, out Output, now bool) error {
		text, err := out.forPostgres()
		if err != nil {
			return err
		}
		if err := river.RecordOutput(ctx, text); err != nil {
			return river.JobCancel(fmt.Errorf("keep the result: %w", err))
		}
		if !now {
			return nil
		}
		row, err := client.JobUpdate(ctx, job.ID, nil)
		if err == nil && (row.State != rivertype.JobStateRunning || !row.AttemptedAt.Equal(*job.AttemptedAt)) {
			err = errors.New("the job is no longer that of this worker")
		}
		return err
	})
}

// keepTime is how long a state may take to be kept after ctx is done.
const keepTime = 5 * time.Second

// step is Step with a function that keeps an output: at once, or when the attempt at the
// job ends.
func step(
	ctx context.Context, job *rivertype.JobRow, p poll.Poller, keep func(_ context.Context, _ Output, now bool) error,
) (Output, error) {
	var past Output
	if text := job.Output(); text != nil {
		if err := json.Unmarshal(text, &past); err != nil {
			return past, err
		}
		if past.State.Start.IsZero() {
			return past, errors.New("the output of the job is not that of a wait")
		}
	}
	p.Starting = func(s poll.State) error { return keep(ctx, Output{State: s}, true) }
	state, events := p.Step(ctx, past.State)
	out, last := Output{State: state, Result: past.Result}, events[len(events)-1]
	if o := last.Outcome; o != nil && o.Ending == poll.Succeeded && !o.Resumed {
		out.Result = result(o.Observation.Body)
	}
	if err := keepAfter(ctx, past.State, &out, keep); err != nil {
		return out, fmt.Errorf("keep the state of the wait: %w", err)
	}
	if last.Kind == poll.EventWait {
		return out, river.JobSnooze(max(0, time.Until(last.State.Due)))
	}
	switch o := last.Outcome; {
	case o.Ending == poll.Succeeded:
		return out, nil
	case state.Ended(), o.Unfinished && o.Ending == poll.Failed, o.Ending == poll.TimedOut, o.Ending == poll.AttemptsExhausted, o.Ending == poll.HintTooLong:
		return out, river.JobCancel(o.Err())
	default:
		return out, o.Err()
	}
}

// keepAfter keeps what follows past: at once if another attempt could not find it out again.
func keepAfter(
	ctx context.Context, past poll.State, out *Output, keep func(_ context.Context, _ Output, now bool) error,
) error {
	if past.Ended() {
		return nil // there is nothing new
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	err := keep(ctx, *out, out.State.Ended() || out.State.Sent > past.Sent)
	var final *rivertype.JobCancelError
	if err == nil || out.Result == nil || errors.As(err, &final) {
		return err
	}
	out.Result = quoted(out.Result)
	return keep(ctx, *out, true)
}

// result returns a body as JSON.
func result(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	return quoted(body)
}

func quoted(text []byte) json.RawMessage {
	q, err := json.Marshal(string(text))
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return q
}

// forPostgres returns the JSON form of an output without NULs, which Postgres refuses. One
// that it refuses would hold up other jobs that River writes together with this one.
func (o Output) forPostgres() (json.RawMessage, error) {
	text, err := json.Marshal(o)
	return json.RawMessage(strings.NewReplacer(`\\`, `\\`, `\u0000`, `\ufffd`).Replace(string(text))), err
}
