package temporalpoll_test

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pollcli/poll/adapters/temporalpoll"
	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// Export starts an export, and waits for it.
func Export(ctx context.Context, api, table string) (string, error) {
	outcome, err := temporalpoll.Step(ctx, poll.Poller{
		Probe:    poll.HTTP{URL: api + "/exports", Body: []byte("table=" + table)},
		Schedule: backoff.Exponential{Base: time.Second, Factor: 2},
	})
	if err != nil {
		return "", err
	}
	return string(outcome.Observation.Body), nil
}

// An activity that starts an export, and a workflow that waits for it.
func ExampleStep() {
	flow := func(ctx workflow.Context, api, table string) (rows string, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout:    30 * time.Second,
			ScheduleToCloseTimeout: 6 * time.Hour,
			RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
		})
		err = workflow.ExecuteActivity(ctx, Export, api, table).Get(ctx, &rows)
		return rows, err
	}
	_ = flow // is for worker.RegisterWorkflow, and Export for worker.RegisterActivity
}
