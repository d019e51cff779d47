package temporalpoll_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	tlog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pollcli/poll/adapters/internal/jobs"
	"github.com/pollcli/poll/adapters/temporalpoll"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// done is the last response of the service.
const done = `{"state":"done"}`

func suite() *testsuite.WorkflowTestSuite {
	var s testsuite.WorkflowTestSuite
	s.SetLogger(tlog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return &s
}

// run runs a workflow with a wait in Temporal's test environment, and returns the result of
// its activity, and a line for each attempt at that: when it came and what came of it.
func run(t *testing.T, p poll.Poller, options workflow.ActivityOptions) (body string, attempts []string, err error) {
	t.Helper()
	return runKilled(t, p, options, func(int32, bool) bool { return false })
}

// runKilled is run, with a worker that is killed before or after the steps for which killed
// reports that.
func runKilled(
	t *testing.T, p poll.Poller, options workflow.ActivityOptions, killed func(attempt int32, after bool) bool,
) (body string, attempts []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		env := suite().NewTestWorkflowEnvironment()
		begun := time.Now()
		env.SetStartTime(begun)
		env.SetTestTimeout(48 * time.Hour)
		env.RegisterActivityWithOptions(func(ctx context.Context) (string, error) {
			time.Sleep(time.Until(env.Now())) // it skips time, but not that of the wait
			at, number := time.Since(begun), activity.GetInfo(ctx).Attempt
			if killed(number, false) {
				return "", errKilled
			}
			outcome, err := temporalpoll.Step(ctx, p)
			if killed(number, true) {
				return "", errKilled
			}
			attempts = append(attempts, at.String()+" "+said(err))
			if err != nil {
				return "", err
			}
			return string(outcome.Observation.Body), nil
		}, activity.RegisterOptions{Name: "wait"})
		flow := func(ctx workflow.Context) (body string, err error) {
			err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), "wait").Get(ctx, &body)
			return body, err
		}
		env.RegisterWorkflow(flow)
		env.ExecuteWorkflow(flow)
		if err = env.GetWorkflowError(); err == nil {
			err = env.GetWorkflowResult(&body)
		}
	})
	return body, attempts, err
}

// said returns the request to the server that an error holds.
func said(err error) string {
	var e *temporal.ApplicationError
	if err == nil || !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	if e.NonRetryable() {
		return fmt.Sprintf("final, %s: %s", e.Type(), e.Message())
	}
	benign := e.Category() == temporal.ApplicationErrorCategoryBenign
	return fmt.Sprintf("again after %s, benign: %t, %s: %s", e.NextRetryDelay(), benign, e.Type(), e.Message())
}

var errKilled = errors.New("killed")

var usual = workflow.ActivityOptions{
	StartToCloseTimeout: 24 * time.Hour, // the test environment counts all attempts
	RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1, MaximumInterval: time.Second},
}

func TestStep(t *testing.T) {
	const post = http.MethodPost
	for name, test := range map[string]struct {
		method  string
		answers []string
		change  func(*poll.Poller, *workflow.ActivityOptions)
		want    string
	}{
		"the server waits as the schedule and the service say, beyond MaximumInterval, too": {
			"GET", []string{"202", "429 7200", "202", "200"}, nil, `
0s again after 30s, benign: true, NOT_READY: the first attempt is not due yet
30s again after 30s, benign: true, NOT_READY: HTTP 202 Accepted
1m0s again after 2h6m0s, benign: true, THROTTLED: HTTP 429 Too Many Requests, Retry-After asks for 2h
2h7m0s again after 30s, benign: true, NOT_READY: HTTP 202 Accepted
2h7m30s <nil>
`},
		"a start is sent by the second attempt": {
			post, []string{"202", "202", "200"}, nil, `
0s again after 1ms, benign: true, NOT_READY: the operation is started by the next attempt: nothing was kept before this one
1ms again after 30s, benign: true, NOT_READY: started, now following https://api.example.com/jobs/1
30.001s again after 30s, benign: true, NOT_READY: HTTP 202 Accepted
1m0.001s <nil>
`},
		"a start that is refused is sent again by the next one": {
			post, []string{"429 60", "202", "200"}, nil, `
0s again after 1ms, benign: true, NOT_READY: the operation is started by the next attempt: nothing was kept before this one
1ms again after 1m3s, benign: true, THROTTLED: HTTP 429 Too Many Requests, Retry-After asks for 1m
1m3.001s again after 30s, benign: true, NOT_READY: started, now following https://api.example.com/jobs/1
1m33.001s <nil>
`},
		"ERROR": {
			"GET", []string{"404"}, immediate, `
0s final, failed: wait for job: failed: HTTP 404 Not Found
`},
		"ERROR while the operation may run": {
			post, []string{"202", "403"}, nil, `
0s again after 1ms, benign: true, NOT_READY: the operation is started by the next attempt: nothing was kept before this one
1ms again after 30s, benign: true, NOT_READY: started, now following https://api.example.com/jobs/1
30.001s final, failed: wait for job: failed: HTTP 403 Forbidden
`},
		"the time-out of the wait": {
			"GET", []string{"202"}, func(p *poll.Poller, _ *workflow.ActivityOptions) { p.Timeout = 40 * time.Second }, `
0s again after 30s, benign: true, NOT_READY: the first attempt is not due yet
30s again after 9.95s, benign: true, NOT_READY: HTTP 202 Accepted
39.95s again after 25ms, benign: true, NOT_READY: HTTP 202 Accepted
39.975s final, timed out: wait for job: timed out after 40s; last: HTTP 202 Accepted
`},
		"that of the activity, if it is shorter": {
			"GET", []string{"202"}, func(p *poll.Poller, o *workflow.ActivityOptions) {
				p.Timeout, o.ScheduleToCloseTimeout = time.Hour, 45*time.Second
			}, `
0s again after 30s, benign: true, NOT_READY: the first attempt is not due yet
30s again after 14.95s, benign: true, NOT_READY: HTTP 202 Accepted
44.95s again after 25ms, benign: true, NOT_READY: HTTP 202 Accepted
44.975s final, timed out: wait for job: timed out after 45s; last: HTTP 202 Accepted
`},
		"a program that is not on this worker": {
			"", nil, func(p *poll.Poller, o *workflow.ActivityOptions) {
				immediate(p, o)
				p.Probe = poll.Command{Args: []string{"/nowhere/kubectl"}}
				o.RetryPolicy = &temporal.RetryPolicy{InitialInterval: time.Minute, MaximumAttempts: 2}
			}, `
0s wait for job: cannot be run: /nowhere/kubectl not found
1m0s wait for job: cannot be run: /nowhere/kubectl not found
`},
	} {
		t.Run(name, func(t *testing.T) {
			s := jobs.Service{Answers: test.answers}
			p, options := s.Poller(test.method), usual
			if test.change != nil {
				test.change(&p, &options)
			}
			body, attempts, err := run(t, p, options)
			have := "\n" + strings.Join(attempts, "\n") + "\n"
			if diff := cmp.Diff(test.want, have); diff != "" {
				t.Errorf("attempts (-want +have):\n%s", diff)
			}
			if succeeded := strings.HasSuffix(have, " <nil>\n"); succeeded != (err == nil) || succeeded != (body == done) {
				t.Errorf("the workflow has %q, %v", body, err)
			}
			if s.Starts > 2 || s.Starts == 2 && name != "a start that is refused is sent again by the next one" {
				t.Errorf("%d starts", s.Starts)
			}
		})
	}
}

func immediate(p *poll.Poller, _ *workflow.ActivityOptions) { p.Immediate = true }

// During an attempt that takes longer than the HeartbeatTimeout, Step sends heartbeats.
func TestHeartbeats(t *testing.T) {
	s := jobs.Service{Answers: []string{"200"}, Takes: time.Minute}
	p, options := s.Poller("GET"), usual
	p.Immediate, options.HeartbeatTimeout = true, 10*time.Second
	if body, attempts, err := run(t, p, options); err != nil || body != done {
		t.Errorf("%q, %v after %q", body, err, attempts)
	}
}

// attempt makes one attempt at an activity that is not the first one.
func attempt(t *testing.T, ctx context.Context, p poll.Poller, kept any) error {
	t.Helper()
	env := suite().NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
	if kept != nil {
		env.SetHeartbeatDetails(kept)
	}
	step := func(ctx context.Context) error { _, err := temporalpoll.Step(ctx, p); return err }
	env.RegisterActivity(step)
	_, err := env.ExecuteActivity(step)
	return err
}

// An attempt sends a start request only if the attempt directly before has stored the state. An attempt in between may
// have sent the request.
func TestAnAttemptThatWasLost(t *testing.T) {
	for name, test := range map[string]struct {
		kept map[string]any
		want string
	}{
		"after a start was due":   {map[string]any{"state": poll.State{}, "attempt": 7}, "final, failed: wait for job: failed: the operation may have started: an attempt"},
		"before anything is kept": {map[string]any{"state": poll.State{}, "attempt": 0}, "again after 1ms"},
		"in the middle of one":    {map[string]any{"state": poll.State{Starting: true}, "attempt": 7}, "final, failed: wait for job: failed: the operation may have started: the start request"},
		"of another version":      {map[string]any{"state": map[string]int{"v": 9}}, "again after 0s, benign: false, wrapError: continue the wait:"},
	} {
		t.Run(name, func(t *testing.T) {
			s := jobs.Service{Answers: []string{"202"}}
			if err := attempt(t, t.Context(), s.Poller("POST"), test.kept); !strings.HasPrefix(said(err), test.want) {
				t.Errorf("have %s, want %s", said(err), test.want)
			}
			if s.Requests > 0 {
				t.Errorf("%d requests", s.Requests)
			}
		})
	}
}

// If workers are killed once or twice, at any points, no wait is lost and no start request is sent twice.
func TestWorkersThatAreKilled(t *testing.T) {
	const before, during, after, attempts = 0, 1, 2, 5
	unknown := 0
	for pair := range (3 * attempts) * (3 * attempts) {
		kills := map[int32]int{} // attempt -> when
		for _, kill := range []int{pair / (3 * attempts), pair % (3 * attempts)} {
			kills[int32(1+kill/3)] = kill % 3
		}
		killed := func(attempt int32, when int) bool { at, ok := kills[attempt]; return ok && at == when }
		s, attempt := jobs.Service{Answers: []string{"202", "202", "200"}}, int32(0)
		s.Asked = func() {
			if killed(attempt, during) {
				panic(errKilled)
			}
		}
		body, seen, err := runKilled(t, s.Poller(http.MethodPost), usual, func(n int32, later bool) bool {
			attempt = n
			return killed(n, before) && !later || killed(n, after) && later
		})
		switch {
		case s.Starts > 1:
			t.Errorf("killed at %v: %d starts in %q", kills, s.Starts, seen)
		case err == nil && body == done:
		case err != nil && strings.Contains(err.Error(), "may have started"):
			unknown++
		default:
			t.Errorf("killed at %v: %v", kills, err)
		}
	}
	t.Logf("it was %d times unknown whether the operation had started, of %d", unknown, (3*attempts)*(3*attempts))
}

// If the activity is canceled, the error is a cancellation. If the worker ends, the error is not a cancellation.
func TestAnAttemptThatIsInterrupted(t *testing.T) {
	for cause, want := range map[error]string{
		temporal.NewCanceledError(): "canceled",
		worker.ErrWorkerShutdown:    "again after 1ms, benign: true, interrupted: wait for job: interrupted: worker is now shutdown",
		activity.ErrActivityPaused:  "again after 1ms, benign: true, interrupted: wait for job: interrupted: activity paused",
	} {
		t.Run(cause.Error(), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			p := poll.Poller{Target: "job", Immediate: true, Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				cancel(cause)
				<-ctx.Done()
				return poll.Observe(ctx, nil, ctx.Err())
			})}
			err := attempt(t, ctx, p, nil)
			if have := said(err); !strings.HasPrefix(have, want) && !(want == "canceled" && temporal.IsCanceledError(err)) {
				t.Errorf("have %s, want %s", have, want)
			}
		})
	}
}

func TestALocalActivity(t *testing.T) {
	env := suite().NewTestActivityEnvironment()
	_, err := env.ExecuteLocalActivity(func(ctx context.Context) error {
		_, err := temporalpoll.Step(ctx, poll.Poller{})
		return err
	})
	if want := "final, cannot be run: a local activity keeps nothing"; !strings.HasPrefix(said(err), want) {
		t.Errorf("have %s, want %s", said(err), want)
	}
}
