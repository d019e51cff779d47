package temporalpoll_test

import (
	"context"

	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pollcli/poll/adapters/internal/jobs"
	"github.com/pollcli/poll/adapters/temporalpoll"
	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// server is the variable that names a Temporal server: "host:port namespace".
const server = "TEMPORALPOLL_SERVER"

const queue = "waiting"

func TestMain(m *testing.M) {
	if os.Getenv("TEMPORALPOLL_WORKER") == "" {
		os.Exit(m.Run())
	}
	c, err := dial()
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(waitFlow)
	w.RegisterActivity(wait)
	log.Fatal(w.Run(nil))
}

func dial() (client.Client, error) {
	address, namespace, _ := strings.Cut(os.Getenv(server), " ")
	return client.Dial(client.Options{
		HostPort: address, Namespace: namespace, Logger: tlog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
}

type waiting struct{ Method, URL string }

// A seen is the result of a wait.
type seen struct {
	Body                   string
	Requests, OfActivities int
}

func wait(ctx context.Context, w waiting) (seen, error) {
	o, err := temporalpoll.Step(ctx, poll.Poller{
		Probe:    poll.HTTP{URL: w.URL, Method: w.Method},
		Schedule: backoff.Fixed(300 * time.Millisecond),
	})
	if err != nil {
		return seen{}, err
	}
	return seen{string(o.Observation.Body), o.State.Attempts, int(activity.GetInfo(ctx).Attempt)}, nil
}

func waitFlow(ctx workflow.Context, w waiting) (s seen, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 3 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 1, MaximumInterval: 100 * time.Millisecond,
		},
		WaitForCancellation: true,
	})
	err = workflow.ExecuteActivity(ctx, wait, w).Get(ctx, &s)
	return s, err
}

// real returns a client for a test that needs a Temporal server.
func real(t *testing.T) client.Client {
	if os.Getenv(server) == "" {
		t.Skipf("%s names no Temporal server: scripts/realservers temporal runs one", server)
	}
	c, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func startWorker(t testing.TB) *jobs.Worker { return jobs.StartWorker(t, "TEMPORALPOLL_WORKER=1") }

func begin(t *testing.T, c client.Client, w waiting) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue}, waitFlow, w)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// finished waits for the end of a workflow.
func finished(t *testing.T, run client.WorkflowRun, limit time.Duration) (s seen, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err = run.Get(ctx, &s); ctx.Err() != nil {
		t.Fatalf("no end within %s: %v", limit, err)
	}
	return s, err
}

// events returns the types of the events in the history of a workflow.
func events(t *testing.T, c client.Client, run client.WorkflowRun) string {
	t.Helper()
	var names []string
	history := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false, 0)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.GetEventType().String())
	}
	return strings.Join(names, " ")
}

// The history of the workflow does not depend on the number of attempts.
func TestReal_history(t *testing.T) {
	c := real(t)
	startWorker(t)
	var short string
	for _, takes := range []time.Duration{0, 6 * time.Second} {
		api := jobs.NewAPI(t, takes)
		run := begin(t, c, waiting{Method: http.MethodPost, URL: api.URL + "/one"})
		s, err := finished(t, run, 30*time.Second)
		if err != nil || s.Body != `{"job":"one","state":"done"}` || s.Requests != 1+api.Looks("one") || api.Starts("one") != 1 {
			t.Fatalf("%v: %+v after %d starts, %d looks", err, s, api.Starts("one"), api.Looks("one"))
		}
		have := events(t, c, run)
		t.Logf("%d requests in %d attempts at the activity: %d events", s.Requests, s.OfActivities, len(strings.Fields(have)))
		if short == "" {
			short = have
		} else if have != short || s.Requests < 4 {
			t.Errorf("after %d requests the history is\n%s\nwant\n%s", s.Requests, have, short)
		}
	}
}

// If workers are killed at random moments, no wait is lost, and no operation is started twice.
func TestReal_storm(t *testing.T) {
	c := real(t)
	jobs.Storm(t, startWorker, func(url string) (end func() error) {
		run := begin(t, c, waiting{Method: http.MethodPost, URL: url})
		return func() error {
			_, err := finished(t, run, 60*time.Second)
			return err
		}
	})
}
