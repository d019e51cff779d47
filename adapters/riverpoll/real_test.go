package riverpoll_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"

	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/pollcli/poll/adapters/internal/jobs"
	"github.com/pollcli/poll/adapters/riverpoll"
	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// database is the variable that names a Postgres, whose schema public River gets.
const database = "RIVERPOLL_DATABASE"

func TestMain(m *testing.M) {
	if os.Getenv("RIVERPOLL_WORKER") == "" {
		os.Exit(m.Run())
	}
	_, stop := client(nil, true)
	defer stop()
	select {}
}

type waiting struct{ Method, URL string }

func (waiting) Kind() string { return "waiting" }

type waiter struct {
	river.WorkerDefaults[waiting]
}

func (waiter) Work(ctx context.Context, job *river.Job[waiting]) error {
	_, err := riverpoll.Step[pgx.Tx](ctx, job.JobRow, poll.Poller{
		Probe:    poll.HTTP{URL: job.Args.URL, Method: job.Args.Method},
		Schedule: backoff.Fixed(300 * time.Millisecond),
	})
	return err
}

// client returns a running client of River. A client that works no jobs still rescues the jobs of killed workers.
func client(t *testing.T, works bool) (c *river.Client[pgx.Tx], stop func()) {
	fatal := log.Fatal
	if t != nil {
		fatal = t.Fatal
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv(database))
	if err != nil {
		fatal(err)
	}
	config := &river.Config{
		Workers: river.NewWorkers(), Logger: slog.New(slog.DiscardHandler), FetchPollInterval: 100 * time.Millisecond,
		JobTimeout: 2 * time.Second, RescueStuckJobsAfter: 3 * time.Second, LeaderElectionDisabled: works,
		Queues: map[string]river.QueueConfig{"none": {MaxWorkers: 1}},
	}
	river.AddWorker(config.Workers, waiter{})
	if works {
		config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 20}}
	} else {
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: config.Logger})
		if err != nil {
			fatal(err)
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			fatal(err)
		}
	}
	if c, err = river.NewClient(riverpgxv5.New(pool), config); err != nil {
		fatal(err)
	}
	if err := c.Start(ctx); err != nil {
		fatal(err)
	}
	return c, func() {
		_ = c.StopAndCancel(ctx)
		pool.Close()
	}
}

// real returns a client for a test that needs Postgres.
func real(t *testing.T) *river.Client[pgx.Tx] {
	if os.Getenv(database) == "" {
		t.Skipf("%s names no Postgres: scripts/realservers river runs one", database)
	}
	c, stop := client(t, false)
	t.Cleanup(stop)
	return c
}

func worker(t testing.TB) *jobs.Worker { return jobs.StartWorker(t, "RIVERPOLL_WORKER=1") }

func insert(t *testing.T, c *river.Client[pgx.Tx], w waiting) int64 {
	t.Helper()
	inserted, err := c.Insert(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return inserted.Job.ID
}

// finished waits until a job has ended, and returns it with its output.
func finished(t *testing.T, c *river.Client[pgx.Tx], id int64, limit time.Duration) (row *rivertype.JobRow, out riverpoll.Output) {
	t.Helper()
	jobs.Await(t, limit, fmt.Sprintf("the end of job %d", id), func() bool {
		var err error
		if row, err = c.JobGet(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return row.FinalizedAt != nil
	})
	if err := json.Unmarshal(row.Output(), &out); err != nil {
		t.Fatalf("%v: %s", err, row.Metadata)
	}
	return row, out
}

func lastError(row *rivertype.JobRow) string {
	if len(row.Errors) == 0 {
		return ""
	}
	return row.Errors[len(row.Errors)-1].Error
}

// An output that Postgres rejects is not stored, and does not delay other jobs.
func TestReal_results(t *testing.T) {
	c := real(t)
	worker(t)
	for body, want := range map[string]string{
		"plain":           `"plain"`,
		"a\x00b":          `"a` + "\ufffd" + `b"`,
		`{"a":"\u0000"}`:  `{"a": "` + "\ufffd" + `"}`,
		`{"a":"\\u0000"}`: `{"a": "\\u0000"}`,
		`{"a":"\ud800"}`:  `"{\"a\":\"\\ud800\"}"`,
		`[1e200000]`:      `"[1e200000]"`,
	} {
		server := jobs.Serve(t, body)
		row, out := finished(t, c, insert(t, c, waiting{URL: server}), 20*time.Second)
		if row.State != rivertype.JobStateCompleted || string(out.Result) != want {
			t.Errorf("%q: %s, result %s, want %s: %s", body, row.State, out.Result, want, lastError(row))
		}
	}
}

// If workers are killed at random moments, no wait is lost, and no operation is started twice.
func TestReal_storm(t *testing.T) {
	c := real(t)
	jobs.Storm(t, worker, func(url string) (end func() error) {
		id := insert(t, c, waiting{Method: http.MethodPost, URL: url})
		return func() error {
			row, _ := finished(t, c, id, 80*time.Second)
			if row.State == rivertype.JobStateCompleted {
				return nil
			}
			return fmt.Errorf("%s: %s", row.State, lastError(row))
		}
	})
}
