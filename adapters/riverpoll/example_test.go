package riverpoll_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/pollcli/poll/adapters/riverpoll"
	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

type Export struct{ Table string }

func (Export) Kind() string { return "export" }

type exporter struct {
	river.WorkerDefaults[Export]
	api string
}

func (w *exporter) Work(ctx context.Context, job *river.Job[Export]) error {
	out, err := riverpoll.Step[pgx.Tx](ctx, job.JobRow, poll.Poller{
		Probe:    poll.HTTP{URL: w.api + "/exports", Body: []byte("table=" + job.Args.Table)},
		Schedule: backoff.Exponential{Base: time.Second, Factor: 2},
		Timeout:  6 * time.Hour,
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s after %d requests: %s\n", out.State.Status, out.State.Attempts, out.Result)
	return nil
}

// A job that starts an export, and waits for it.
func ExampleStep() {
	workers := river.NewWorkers()
	river.AddWorker(workers, &exporter{api: "https://api.example.com"})
}
