package poll_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A logged probe embeds another probe, and calls its Check.
type logged struct {
	poll.Probe
	looks *int
}

func (l logged) Check(ctx context.Context, a poll.Attempt) poll.Report {
	*l.looks++
	return l.Probe.Check(ctx, a)
}

// A start in a probe that is wrapped is sent once, and the function sees each attempt.
func TestAStartInAWrappedProbeIsSentOnce(t *testing.T) {
	wrap := func(inner poll.Probe, looks *int) poll.Probe {
		return poll.Wrap(inner, func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
			*looks++
			return next(ctx, a)
		})
	}
	for name, around := range map[string]func(poll.Probe, *int) poll.Probe{
		"once":  wrap,
		"twice": func(inner poll.Probe, looks *int) poll.Probe { return wrap(wrap(inner, new(int)), looks) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var s service
			p, looks := s.poller(), 0
			p.Probe = around(p.Probe, &looks)
			o, err := p.Run(t.Context())
			if len(s.requests) < 3 || slices.Index(s.requests, "POST /jobs") != 0 || slices.Contains(s.requests[1:], "POST /jobs") {
				t.Errorf("%s: requests %q", name, s.requests)
			}
			if err != nil || looks != len(s.requests) || looks != o.State.Attempts || o.Target != "https://api.example.com/jobs" {
				t.Errorf("%s: %v after %d attempts and %d looks at %s; requests %q", name, err, o.State.Attempts, looks, o.Target, s.requests)
			}
		})
	}
}

// An HTTP that starts or follows an operation sends nothing for a function that returns its observation only. A probe
// that returns its Report continues the operation. Other requests are sent as they are, in each attempt.
func TestRequestsWithinAProbe(t *testing.T) {
	url := "http://api.example.com"
	for _, c := range []struct {
		name string
		http poll.HTTP
		want string // requests of two attempts of a probe
		isIn bool   // a function may make the request
	}{
		{"a look", poll.HTTP{URL: url}, "[GET/ GET/]", true},
		{"a request that starts nothing", poll.HTTP{URL: url, Body: []byte("a"), Follow: "none"}, "[POST/ POST/]", true},
		{"a start by its method", poll.HTTP{URL: url, Method: "POST"}, "[POST/]", false},
		{"a start by its body", poll.HTTP{URL: url, Body: []byte("a")}, "[POST/]", false},
		{"a start that leads to its URL", poll.HTTP{URL: url, Method: "PUT", Follow: "self"}, "[PUT/]", false},
		{"a URL to follow", poll.HTTP{URL: url, Follow: ".url"}, "[GET/ GET/]", false},
	} {
		var sent []string
		c.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.Method+cmp.Or(r.URL.Path, "/"))
			header := http.Header{"Location": {"/job"}, "Etag": {`"1"`}}
			return &http.Response{StatusCode: 503, Header: header, Body: http.NoBody, Request: r}, nil
		})
		for name, probe := range map[string]poll.Probe{"embedded": logged{c.http, new(int)}, "in a function": poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation { return c.http.Check(ctx, a).Observation })} {
			sent = nil
			want, isRejected := c.want, name == "in a function" && !c.isIn
			if isRejected {
				want = "[]"
			}
			p := poll.Poller{MaxAttempts: 2, Schedule: backoff.Fixed(time.Millisecond), Probe: probe}
			outcome, err := p.Run(t.Context())
			if isNamed := outcome.Status == status.Error && strings.Contains(outcome.Reason, "poll.Wrap"); fmt.Sprint(sent) != want || isNamed != isRejected {
				t.Errorf("%s, %s: sent %s, want %s; %v", c.name, name, sent, want, err)
			}
		}
	}
}

// A forgetful probe embeds an HTTP, checks it a number of times in each attempt, and leaves out the Report.Next.
type forgetful struct {
	poll.HTTP
	times int
}

func (f forgetful) Check(ctx context.Context, a poll.Attempt) (r poll.Report) {
	for range f.times {
		r = f.HTTP.Check(ctx, a)
	}
	return poll.Report{Observation: r.Observation}
}

// A probe that leaves out the Report.Next of a start, or checks twice, sends the start once.
func TestAForgetfulProbeStartsOnce(t *testing.T) {
	for times := 1; times <= 2; times++ {
		sent := 0
		p := poll.Poller{MaxAttempts: 3, Schedule: backoff.Fixed(time.Millisecond)}
		p.Rules = status.MustUntil("$status == 299")
		p.Probe = forgetful{poll.HTTP{URL: "http://api.example.com", Method: "POST", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			sent++
			header := http.Header{"Location": {"/job"}}
			return &http.Response{StatusCode: 202, Header: header, Body: http.NoBody, Request: r}, nil
		})}, times}
		o, _ := p.Run(t.Context())
		if sent != 1 || o.Status != status.Error || !strings.Contains(o.Reason, "poll.Wrap") || !o.Unfinished || !o.State.Starting {
			t.Errorf("%d checks in an attempt: %d starts, %s, %q, unfinished %v", times, sent, o.Status, o.Reason, o.Unfinished)
		}
	}
}

// A detached probe embeds an HTTP, and gives it neither the context nor the Attempt of the wait.
type detached struct{ poll.HTTP }

func (d detached) Check(_ context.Context, a poll.Attempt) poll.Report {
	return poll.Report{Observation: d.HTTP.Check(context.Background(), poll.Attempt{Number: a.Number}).Observation}
}

// A probe that passes on neither its context nor its Attempt sends the start once.
func TestADetachedProbeStartsOnce(t *testing.T) {
	for _, code := range []int{202, 200, 303} {
		sent := 0
		p := poll.Poller{MaxAttempts: 3, Schedule: backoff.Fixed(time.Millisecond), Rules: status.MustUntil(`.state == "done"`)}
		p.Probe = detached{poll.HTTP{URL: "http://api.example.com/jobs", Method: "POST", MaxRedirects: 5, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			of := http.StatusOK
			if r.Method == "POST" {
				sent++
				of = code
			}
			header := http.Header{"Location": {"/jobs/1"}}
			return &http.Response{StatusCode: of, Header: header, Body: http.NoBody, Request: r}, nil
		})}}
		if o, _ := p.Run(t.Context()); sent != 1 || o.Status != status.Error || !strings.Contains(o.Reason, "poll.Wrap") || !o.Unfinished {
			t.Errorf("%d: %d starts, %s, %q, unfinished %v", code, sent, o.Status, o.Reason, o.Unfinished)
		}
	}
}

// A response that a probe returns without sending its start request is not SUCCESS.
func TestAStartThatAProbeDoesNotSend(t *testing.T) {
	sent := 0
	start := poll.HTTP{URL: "http://api.example.com", Method: "POST", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
	})}
	login := poll.HTTP{URL: "http://api.example.com/login", Transport: start.Transport}
	for want, check := range map[string]func(context.Context, poll.Attempt, func(context.Context, poll.Attempt) status.Observation) status.Observation{
		"a document": func(ctx context.Context, _ poll.Attempt, _ func(context.Context, poll.Attempt) status.Observation) status.Observation {
			return poll.Observe(ctx, []byte(`{"state":"done"}`), nil)
		},
		"another response": func(ctx context.Context, a poll.Attempt, _ func(context.Context, poll.Attempt) status.Observation) status.Observation {
			return login.Check(ctx, a).Observation
		},
	} {
		for _, rules := range []status.Rules{{}, status.MustUntil(`.state == "done" or $status == 200`)} {
			p := poll.Poller{Probe: poll.Wrap(start, check), Rules: rules, MaxAttempts: 2, Schedule: backoff.Fixed(time.Millisecond)}
			sent = 0
			o, err := p.Run(t.Context())
			if err == nil || o.Status != status.NotReady || o.State.Starting || sent > o.State.Attempts {
				t.Errorf("%s: %s after %d requests in %d attempts: %v", want, o.Status, sent, o.State.Attempts, err)
			}
		}
	}
}

// The function of a Wrap may send another request that changes something, such as a login, before the start.
func TestWrapWithALogin(t *testing.T) {
	var sent []string
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Method+" "+r.URL.Path)
		code := map[string]int{"/login": 204, "/jobs": 202}[r.URL.Path]
		return &http.Response{StatusCode: cmp.Or(code, 200), Header: http.Header{"Location": {"/jobs/1"}}, Body: http.NoBody, Request: r}, nil
	})
	login := poll.HTTP{URL: "http://api.example.com/login", Method: "POST", Transport: transport}
	start := poll.HTTP{URL: "http://api.example.com/jobs", Method: "POST", Transport: transport}
	p := poll.Poller{MaxAttempts: 3, Schedule: backoff.Fixed(time.Millisecond), Rules: status.MustUntil("$status == 200")}
	p.Probe = poll.Wrap(start, func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
		if a.Number == 1 {
			login.Check(ctx, a)
		}
		return next(ctx, a)
	})
	o, err := p.Run(t.Context())
	if want := []string{"POST /login", "POST /jobs", "GET /jobs/1"}; err != nil || o.Ending != poll.Succeeded || !slices.Equal(sent, want) {
		t.Errorf("%s, %v, requests %q", o.Reason, err, sent)
	}
}

// A start that the end of the run prevents was not sent, and a later run sends it.
func TestAStartThatIsNotSent(t *testing.T) {
	sent := 0
	p := poll.Poller{Probe: poll.HTTP{URL: "http://api.example.com", Method: "POST", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		sent++
		return nil, r.Context().Err()
	})}}
	ctx, cancel := context.WithCancel(t.Context())
	p.Starting = func(poll.State) error {
		cancel()
		return nil
	}
	if o, _ := p.Run(ctx); sent != 0 || o.Ending != poll.Interrupted || o.State.Starting || o.Unfinished {
		t.Errorf("%d requests, %s, starting %v, unfinished %v", sent, o.Ending, o.State.Starting, o.Unfinished)
	}
}

// The result of a probe may be a stream.
func TestResultThatStreams(t *testing.T) {
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(strings.NewReader("{\"rows\":1}\n"))
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/x-ndjson"}}, Body: body, Request: r}, nil
	})
	p := poll.Poller{Probe: withResult{poll.HTTP{URL: "http://api.example.com", Stream: true, Transport: transport}}, Rules: status.MustUntil(`.state == "done"`)}
	if o, err := p.Run(t.Context()); err != nil || o.Ending != poll.Succeeded {
		t.Errorf("%s, %v", o.Reason, err)
	}
}

// withResult is done at once, and names its result.
type withResult struct{ result poll.Probe }

func (p withResult) Plan() poll.Plan { return poll.Plan{Name: "operation"} }

func (p withResult) Check(context.Context, poll.Attempt) poll.Report {
	return poll.Report{Observation: status.Observation{Body: []byte(`{"state":"done"}`)}, Result: p.result}
}

// The body from a function is the whole response: further pages of the response are not evaluated, and a list
// without some of its pages is not complete.
func TestAFunctionReturnsTheWholeResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofJobs(t, poll.Elements{}, "a=done")
		p.Probe = poll.Wrap(poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation {
			o := status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(jobs("a=done")), Output: []byte(jobs("c=done"))}
			o.Pages = [][]byte{[]byte(jobs("b=done"))}
			return o
		}), func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
			return poll.Observe(ctx, next(ctx, a).Body, nil)
		})
		o := p.Probe.Check(t.Context(), poll.Attempt{})
		if string(o.Body) != jobs("a=done") || o.Pages != nil || o.Output != nil {
			t.Errorf("body %s, pages %s, output %s", o.Body, o.Pages, o.Output)
		}
		outcomes, err := (&poll.Group{Timeout: 20 * time.Second}).Run(t.Context(), slices.Values([]poll.Poller{p}))
		if !errors.Is(err, poll.TimedOut) || len(outcomes) != 1 || outcomes[0].Ending != poll.Succeeded {
			t.Errorf("%+v, %v", outcomes, err)
		}
	})
}

// If a function calls next twice at once, only one call sends the start request. A call that outlasts the
// function ends before the attempt.
func TestCallsOfNextAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s service
		p := s.poller()
		start := p.Probe.(poll.HTTP)
		start.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return s.RoundTrip(r)
		})
		p.Probe = poll.Wrap(start, func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
			responses := make(chan status.Observation, 3)
			for range cap(responses) {
				go func() { responses <- next(context.WithoutCancel(ctx), a) }()
			}
			return <-responses
		})
		o, err := p.Run(t.Context())
		if err != nil || slices.Index(s.requests, "POST /jobs") != 0 || slices.Contains(s.requests[1:], "POST /jobs") {
			t.Errorf("%v after %d attempts; requests %q", err, o.State.Attempts, s.requests)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Put a probe that signs each request, and a probe that counts its attempts, around another probe.
func ExampleWrap() {
	looks := 0
	probe := poll.Wrap(poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
		return poll.Observe(ctx, []byte(`{"state": "done"}`), nil)
	}), func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
		looks++
		return next(ctx, a)
	})
	rules, err := status.Until(`.state == "done"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := poll.Poller{Probe: probe, Rules: rules}
	outcome, _ := p.Run(context.Background())
	fmt.Println(outcome.Reason, looks)
	// Output: .state is "done" 1
}
