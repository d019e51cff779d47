package temporalpoll_test

import (
	"context"
	"errors"
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

type waiting struct {
	Method, URL        string
	Timeout, Heartbeat time.Duration
}

// A seen is what became of a wait.
type seen struct {
	Body                   string
	Requests, OfActivities int
}

func wait(ctx context.Context, w waiting) (seen, error) {
	o, err := temporalpoll.Step(ctx, poll.Poller{
		Probe:    poll.HTTP{URL: w.URL, Method: w.Method},
		Schedule: backoff.Fixed(300 * time.Millisecond), Timeout: w.Timeout,
	})
	if err != nil {
		return seen{}, err
	}
	return seen{string(o.Observation.Body), o.State.Attempts, int(activity.GetInfo(ctx).Attempt)}, nil
}

func waitFlow(ctx workflow.Context, w waiting) (s seen, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 3 * time.Second, HeartbeatTimeout: w.Heartbeat,
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

// kind is the type of an application error.
func kind(err error) string {
	var e *temporal.ApplicationError
	if errors.As(err, &e) {
		return e.Type()
	}
	return ""
}

// However many looks a wait takes, the history is the same.
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

// What a service asks for holds beyond MaximumInterval.
func TestReal_hint(t *testing.T) {
	c, api := real(t), jobs.NewAPI(t, 2500*time.Millisecond)
	startWorker(t)
	_, err := finished(t, begin(t, c, waiting{URL: api.URL + "/slow"}), 20*time.Second)
	if looks := api.Looks("slow"); err != nil || looks != 4 {
		t.Errorf("%v: %d looks, want one at once, and three after a second each", err, looks)
	}
}

func TestReal_failure(t *testing.T) {
	c, api := real(t), jobs.NewAPI(t, time.Hour)
	startWorker(t)
	for want, w := range map[string]waiting{
		"failed":    {Method: http.MethodDelete, URL: api.URL + "/gone"},
		"timed out": {URL: api.URL + "/long", Timeout: 800 * time.Millisecond},
	} {
		if _, err := finished(t, begin(t, c, w), 20*time.Second); kind(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// An activity that is canceled while it waits, or while a look hangs, is looked at no more.
func TestReal_cancel(t *testing.T) {
	c, api := real(t), jobs.NewAPI(t, time.Hour)
	startWorker(t)
	waits := begin(t, c, waiting{URL: api.URL + "/slow"})
	hangs := begin(t, c, waiting{URL: api.URL + "/look?hang", Heartbeat: time.Second})
	jobs.Await(t, 10*time.Second, "looks", func() bool { return api.Looks("slow") > 0 && api.Looks("look") > 0 })
	for _, run := range []client.WorkflowRun{waits, hangs} {
		if err := c.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()); err != nil {
			t.Fatal(err)
		}
		if _, err := finished(t, run, 10*time.Second); !temporal.IsCanceledError(err) {
			t.Errorf("%v", err)
		}
	}
	if looks := api.Looks("look"); looks != 1 {
		t.Errorf("%d looks that hang", looks)
	}
}

// A worker that is killed in the middle of a wait, of a look and of a start.
func TestReal_kill(t *testing.T) {
	c, api := real(t), jobs.NewAPI(t, 4*time.Second)
	first := startWorker(t)
	waits := begin(t, c, waiting{Method: http.MethodPost, URL: api.URL + "/slow"})
	looks := begin(t, c, waiting{URL: api.URL + "/look?hang", Timeout: time.Minute})
	starts := begin(t, c, waiting{Method: http.MethodPost, URL: api.URL + "/start?hang"})
	jobs.Await(t, 10*time.Second, "looks and starts", func() bool {
		return api.Looks("slow") > 0 && api.Looks("look") > 0 && api.Starts("start") > 0
	})
	first.Kill()
	startWorker(t)
	if s, err := finished(t, waits, 30*time.Second); err != nil || api.Starts("slow") != 1 {
		t.Errorf("in a wait: %v, %+v after %d starts", err, s, api.Starts("slow"))
	}
	_, err := finished(t, starts, 30*time.Second)
	if kind(err) != "failed" || !strings.Contains(err.Error(), "may have started") || api.Starts("start") != 1 {
		t.Errorf("in a start: %v after %d starts", err, api.Starts("start"))
	}
	jobs.Await(t, 20*time.Second, "another look", func() bool { return api.Looks("look") > 1 })
	_ = c.TerminateWorkflow(t.Context(), looks.GetID(), looks.GetRunID(), "")
	t.Logf("a wait went on, a look was made again, a start was not sent again: %v", err)
}

// Workers that are killed at random moments lose no wait, and start nothing twice.
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
