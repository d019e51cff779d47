// Package riverpoll runs a wait as a [River] job. River keeps the job in Postgres, so the wait survives the end of
// a worker. Each run of the job is a step of the wait ([poll.Poller.Step]), and the job is snoozed between steps.
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
// The client's JobTimeout limits a single attempt, not the wait. If a worker is killed during an attempt, River
// runs the job again after the client's RescueStuckJobsAfter, which is an hour by default.
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

// An Output is the River output of a job that waits. After the first attempt, [rivertype.JobRow.Output] holds its
// JSON form.
type Output struct {
	// State is the wait's current state. The next step continues from State. It may contain a URL that is itself a
	// secret.
	State poll.State `json:"state"`
	// Result is the body of the response that ended the wait with SUCCESS. A body that is not JSON, or that
	// Postgres rejects, becomes a JSON string. NUL characters and malformed UTF-8 become U+FFFD. River accepts at
	// most 32 MiB of output: a job with a larger output is canceled.
	Result json.RawMessage `json:"result,omitempty"`
}

// Step makes the next attempt of the wait that job represents. Call Step once in each call of Work, and return
// Step's error from Work. If the wait continues, the error snoozes the job until the next attempt. If the wait has
// ended without SUCCESS, the error cancels the job. After any other error, such as a program that cannot run on
// this machine, River retries the job. After SUCCESS the error is nil: the job may use the Result, and then end.
//
// The type parameter TTx is the transaction type of the River client. Step sets the job's output itself, and
// replaces p.Starting.
//
// Step sends a start request, the request that starts an operation, only after the database has recorded that the
// request may have been sent. If the worker is killed after this point, the job is canceled: the operation may
// have started, and a second request might start it again. If somebody retries a job whose wait has already ended,
// the job ends in the same way again. To wait again, insert a new job.
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
			err = errors.New("another worker has the job now")
		}
		return err
	})
}

// keepTime limits how long the storing of a state may take. The limit also applies after ctx is done.
const keepTime = 5 * time.Second

// step implements Step. The function keep stores an output: immediately if now is true, otherwise when this run of
// the job ends.
func step(
	ctx context.Context, job *rivertype.JobRow, p poll.Poller, keep func(_ context.Context, _ Output, now bool) error,
) (Output, error) {
	var past Output
	if text := job.Output(); text != nil {
		if err := json.Unmarshal(text, &past); err != nil {
			return past, err
		}
		if past.State.Start.IsZero() {
			return past, errors.New("the output of the job is not from a wait")
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
	case state.Ended(), o.Unfinished && o.Ending == poll.Failed, o.Ending == poll.TimedOut, o.Ending == poll.AttemptsExhausted, o.Ending == poll.ThrottledTooLong:
		return out, river.JobCancel(o.Err())
	default:
		return out, o.Err()
	}
}

// keepAfter stores out, the output of a step that continued from the state past. It stores the output immediately
// if a repeated attempt could not reproduce it, because the wait has ended or a start request was sent. If the
// database rejects the Result, keepAfter stores the Result as a string. If past had ended already, keepAfter
// stores nothing.
func keepAfter(
	ctx context.Context, past poll.State, out *Output, keep func(_ context.Context, _ Output, now bool) error,
) error {
	if past.Ended() {
		return nil // the output is already stored
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

// result returns body unchanged if it is valid JSON, and otherwise as a JSON string.
func result(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	return quoted(body)
}

// quoted returns text encoded as a JSON string.
func quoted(text []byte) json.RawMessage {
	q, err := json.Marshal(string(text))
	if err != nil {
		panic(err) // every string can be encoded
	}
	return q
}

// forPostgres returns o encoded as JSON. It replaces NUL characters, which Postgres rejects. River writes the
// outputs of several jobs in one statement, so one rejected output would delay the other jobs, too.
func (o Output) forPostgres() (json.RawMessage, error) {
	text, err := json.Marshal(o)
	return json.RawMessage(strings.NewReplacer(`\\`, `\\`, `\u0000`, `\ufffd`).Replace(string(text))), err
}
