package poll_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Wait for a URL, and decode its answer.
func ExampleGetJSON() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"state": "done", "artifact": "app.tar.gz"}`)
	}))
	defer server.Close()

	type job struct{ Artifact string }
	built, err := poll.GetJSON[job](context.Background(), server.URL, `.state == "done"`)
	fmt.Println(built.Artifact, err)
	// Output: app.tar.gz <nil>
}

// Start an operation, wait until it is done, and decode the last response.
func ExampleStart() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			fmt.Println(r.Header.Get("Content-Type"), string(body))
			w.Header().Set("Location", "/exports/7")
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprint(w, `{"state": "done", "rows": 3}`)
	}))
	defer server.Close()

	type export struct{ Rows int }
	users, err := poll.Start[export](context.Background(), server.URL, map[string]string{"table": "users"}, `.state == "done"`)
	fmt.Println(users.Rows, err)
	// Output:
	// application/json {"table":"users"}
	// 3 <nil>
}

// Wait for several jobs, and decode the response of each one. The group fails if one job fails.
func ExampleDecode() {
	jobs := map[string]string{"1": `{"state": "done", "rows": 3}`, "2": `{"state": "failed", "rows": 1}`}
	var targets []poll.Poller
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		targets = append(targets, poll.Poller{
			Target: id,
			Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				return poll.Observe(ctx, []byte(jobs[id]), nil)
			}),
			Rules: status.MustUntil(`.state == "done"`).ErrorIf(`.state == "failed"`),
		})
	}
	type job struct{ Rows int }
	outcomes, err := new(poll.Group).Run(context.Background(), slices.Values(targets))
	fmt.Println(err)
	for _, outcome := range outcomes {
		done, err := poll.Decode[job](outcome)
		fmt.Println(outcome.Target, done.Rows, err)
	}
	// Output:
	// 1 of 2 targets succeeded, all needed; 2 failed: .state is "failed"
	// 1 3 <nil>
	// 2 0 wait for 2: failed: .state is "failed"
}

// A build is a custom probe that starts a build once, and then checks it.
type build struct{ started bool }

func (b build) Plan() poll.Plan { return poll.Plan{Once: !b.started} }

func (b build) Check(ctx context.Context, a poll.Attempt) poll.Report {
	if !b.started {
		fmt.Println("attempt", a.Number, "starts the build")
		return poll.Report{Observation: poll.Observe(ctx, nil, errors.New("it was started")), Next: build{started: true}}
	}
	fmt.Println("attempt", a.Number, "checks the build")
	return poll.Report{Observation: poll.Observe(ctx, []byte(`{"state": "done"}`), nil)}
}

// The attempt that starts an operation comes at once. Its response is not a verdict on the operation.
func ExamplePlan() {
	p := poll.Poller{Probe: build{}, Schedule: backoff.Fixed(time.Millisecond)}
	outcome, err := p.Run(context.Background())
	fmt.Println(outcome.Status, err)
	// Output:
	// attempt 1 starts the build
	// attempt 2 checks the build
	// SUCCESS <nil>
}

// Wait for a value that a function of one's own gets.
func ExampleUntil() {
	replicas := 0
	ready, err := poll.Until(context.Background(), func(context.Context) (int, bool, error) {
		replicas++
		return replicas, replicas == 3, nil
	})
	fmt.Println(ready, err)
	// Output: 3 <nil>
}

// Set limits, give up at an error that stays, and see it again.
func ExampleUntilWith() {
	errDeleted := errors.New("the queue was deleted")
	p := poll.Poller{Target: "the queue", Schedule: backoff.Fixed(time.Millisecond), Timeout: time.Minute}

	_, err := poll.UntilWith(context.Background(), p, func(context.Context) (string, bool, error) {
		return "", false, poll.Permanent(errDeleted)
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, poll.Failed), errors.Is(err, errDeleted))
	// Output:
	// wait for the queue: failed: the queue was deleted
	// true true
}

// Wait for a job at a URL.
func ExamplePoller() {
	states := []string{"queued", "running", "done"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"state":%q}`, states[0])
		states = states[1:]
	}))
	defer server.Close()

	rules, err := status.Until(`.state == "done"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := poll.Poller{
		Probe:    poll.HTTP{URL: server.URL},
		Rules:    rules,
		Schedule: backoff.Fixed(time.Millisecond),
		Timeout:  time.Minute,
	}
	outcome, err := p.Run(context.Background())
	fmt.Println(outcome.Status, outcome.State.Attempts, string(outcome.Observation.Body), err)
	// Output: SUCCESS 3 {"state":"done"} <nil>
}

// Wait until two of three mirrors have a file, with at most ten requests a second.
func ExampleGroup() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b/file" {
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer server.Close()

	mirrors := func(yield func(poll.Poller) bool) {
		for _, name := range []string{"a", "b", "c"} {
			probe := poll.HTTP{URL: server.URL + "/" + name + "/file"}
			if !yield(poll.Poller{Target: name, Probe: probe}) {
				return
			}
		}
	}
	group := poll.Group{AtLeast: 2, Limiter: &poll.Pacer{PerSecond: 4}, Timeout: time.Minute}
	for e := range group.Events(context.Background(), mirrors) {
		switch e.Kind {
		case poll.EventEnd:
			fmt.Println(e.N, e.Target, e.Outcome.Status, e.Outcome.Reason)
		case poll.EventGoal:
			fmt.Println(e.Summary.Endings[poll.Succeeded], "of", e.Summary.Targets, e.Summary.Err())
		}
	}
	// Output:
	// 1 a SUCCESS HTTP 200 OK
	// 2 b ERROR HTTP 410 Gone
	// 3 c SUCCESS HTTP 200 OK
	// 2 of 3 <nil>
}

// Wait for all elements of a list.
func ExampleElements() {
	lists := []string{
		`{"jobs": [{"id": 1, "state": "running"}, {"id": 2, "state": "done"}]}`,
		`{"jobs": [{"id": 1, "state": "done"}, {"id": 2, "state": "done"}]}`,
	}
	looks := 0
	probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		looks++
		return poll.Observe(ctx, []byte(lists[min(looks, len(lists))-1]), nil)
	})
	each, err := expr.CompileEach(".jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := status.Until(`.state == "done"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := poll.Poller{
		Target: "jobs", Probe: probe, Elements: &poll.Elements{Each: each, Expect: 2},
		Rules: rules, Schedule: backoff.Fixed(time.Millisecond),
	}
	var g poll.Group
	for e := range g.Events(context.Background(), slices.Values([]poll.Poller{p})) {
		if e.Kind == poll.EventEnd {
			fmt.Println(e.N, e.Target, e.Outcome.Ending, "after", e.Outcome.State.Attempts)
		}
	}
	// Output:
	// 2 2 succeeded after 1
	// 1 1 succeeded after 2
}

// Evaluate rules on a custom document.
func ExampleProbeFunc() {
	job := func(context.Context) ([]byte, error) { return []byte(`{"state":"failed","why":"no disk"}`), nil }

	failed, err := status.NewRule(status.Error, `.state == "failed"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := poll.Poller{
		Target: "job 42",
		Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
			document, err := job(ctx)
			return poll.Observe(ctx, document, err)
		}),
		Rules: status.Rules{Own: []status.Rule{failed}},
	}
	_, err = p.Run(context.Background())
	fmt.Println(err)
	// Output: wait for job 42: failed: .state is "failed"
}

// A probe that reads a channel passes each message to Message, and returns an observation of the end of the
// channel.
func ExampleAttempt() {
	subscribe := func(context.Context) <-chan string {
		states := make(chan string, 3)
		for _, state := range []string{"queued", "running", "done"} {
			states <- state
		}
		return states
	}

	rules, err := status.Until(`.state == "done"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := poll.Poller{
		Rules: rules,
		Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
			states := subscribe(ctx)
			for {
				select {
				case state, open := <-states:
					if !open {
						return poll.Observe(ctx, nil, errors.New("the subscription has ended"))
					}
					if a.Message(poll.Observe(ctx, fmt.Appendf(nil, `{"state":%q}`, state), nil)) {
						return status.Observation{}
					}
				case <-ctx.Done():
					return poll.Observe(ctx, nil, ctx.Err())
				}
			}
		}),
	}
	outcome, err := p.Run(context.Background())
	fmt.Println(string(outcome.Observation.Body), outcome.State.Messages, err)
	// Output: {"state":"done"} 3 <nil>
}

// Start an export with a POST request, and poll its Location until the rows are there.
func ExampleHTTP() {
	polled := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("Location", "/exports/7")
			w.WriteHeader(http.StatusAccepted)
		case polled < 2:
			polled++
			w.WriteHeader(http.StatusAccepted)
		default:
			fmt.Fprint(w, "id,name\n1,x\n")
		}
	}))
	defer server.Close()

	p := poll.Poller{
		Probe:    poll.HTTP{URL: server.URL + "/exports", Body: []byte("table=users")},
		Schedule: backoff.Fixed(time.Millisecond),
		Timeout:  10 * time.Second,
	}
	outcome, err := p.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d attempts\n%s", outcome.State.Attempts, outcome.Observation.Body)
	// Output:
	// 4 attempts
	// id,name
	// 1,x
}

// All pages of a list are one attempt.
func ExampleHTTP_pages() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("after") == "" {
			fmt.Fprint(w, `{"jobs":[{"id":1},{"id":2}],"cursor":"2=="}`)
		} else {
			fmt.Fprint(w, `{"jobs":[{"id":3}],"cursor":null}`)
		}
	}))
	defer server.Close()

	probe := poll.HTTP{URL: server.URL + "/jobs?state=all", Next: "?after={.cursor}"}
	o := probe.Check(context.Background(), poll.Attempt{Number: 1})
	fmt.Printf("%s\n%s\n", o.Body, o.Pages[0])
	// Output:
	// {"jobs":[{"id":1},{"id":2}],"cursor":"2=="}
	// {"jobs":[{"id":3}],"cursor":null}
}
