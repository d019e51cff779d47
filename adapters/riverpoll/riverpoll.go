// Package riverpoll runs a wait as a job of [River]. River keeps the job in Postgres, so the wait survives the end of a
// worker. Each run of the job is a step of the wait ([poll.Poller.Step]). Between the steps the job is snoozed.
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
// The JobTimeout of the client limits one attempt. The wait may take longer. If a worker is killed during an attempt, River
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

// An Output is the output of a job that waits. [rivertype.JobRow.Output] holds its JSON form after the first attempt.
type Output struct {
	// State is the state from which the wait continues. It may hold a URL that is itself a secret.
	State poll.State `json:"state"`
	// Result is the body of the response that was SUCCESS. A body that is not JSON, or that Postgres rejects, becomes a
	// JSON string. A NUL and malformed UTF-8 become U+FFFD. River accepts at most 32 MiB: a job with a larger output is
	// canceled.
	Result json.RawMessage `json:"result,omitempty"`
}

// Step makes the next attempt of the wait that job stands for. Call Step once in each Work, and return its error from Work:
// a snooze until the next attempt, or a cancellation after the wait has ended without SUCCESS. Any other error, such as
// a program that cannot be run on this machine, leads to a retry by River. After SUCCESS the error is nil. The job may
// then end, or use the Result.
//
// TTx is the transaction type of the client. Step owns the output of the job, and it replaces p.Starting. It sends a start
// request only after the database has recorded that the request may have been sent. If the worker is killed after
// that, the job is canceled: the operation may have started, and a second request might start it again. A job whose
// wait has ended ends the same way if it is retried by hand. To wait again, insert a new job.
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

// keepTime limits the time for storing a state. It also applies after ctx is done.
const keepTime = 5 * time.Second

// step implements Step. keep stores an output: immediately if now is true, otherwise when the run of the job ends.
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

// keepAfter stores out, the output after the state past. It stores out immediately if another attempt could not determine
// it again: the wait has ended, or a start request was sent. If the database rejects the Result, keepAfter stores the
// Result as a string. It stores nothing if past has ended already.
func keepAfter(
	ctx context.Context, past poll.State, out *Output, keep func(_ context.Context, _ Output, now bool) error,
) error {
	if past.Ended() {
		return nil // out is stored already
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

// result returns body if it is JSON, or else body as a JSON string.
func result(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	return quoted(body)
}

// quoted returns text as a JSON string.
func quoted(text []byte) json.RawMessage {
	q, err := json.Marshal(string(text))
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return q
}

// forPostgres returns the JSON form of o. It replaces NULs, because Postgres rejects them. River writes several jobs in one
// statement, so a rejected output would also delay other jobs.
func (o Output) forPostgres() (json.RawMessage, error) {
	text, err := json.Marshal(o)
	return json.RawMessage(strings.NewReplacer(`\\`, `\\`, `\u0000`, `\ufffd`).Replace(string(text))), err
}
