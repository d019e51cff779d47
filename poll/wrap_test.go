package poll_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A logged probe embeds another, and looks by it.
type logged struct {
	poll.Probe
	looks *int
}

func (l logged) Look(ctx context.Context, a poll.Attempt) status.Observation {
	*l.looks++
	return l.Probe.Look(ctx, a)
}

// Whatever is around a request that starts an operation, it is sent once, and each look is seen.
func TestAStartWithinAnotherProbeIsSentOnce(t *testing.T) {
	t.Parallel()
	around := map[string]func(inner poll.Probe, looks *int) poll.Probe{
		"embedded": func(inner poll.Probe, looks *int) poll.Probe { return logged{inner, looks} },
		"a function": func(inner poll.Probe, looks *int) poll.Probe {
			return poll.ProbeFunc(logged{inner, looks}.Look)
		},
		"wrapped": func(inner poll.Probe, looks *int) poll.Probe {
			return poll.Wrap(inner, func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
				*looks++
				return next(ctx, a)
			})
		},
	}
	around["wrapped twice"] = func(inner poll.Probe, looks *int) poll.Probe {
		return around["wrapped"](around["wrapped"](inner, new(int)), looks)
	}
	for name, wrap := range around {
		synctest.Test(t, func(t *testing.T) {
			var s service
			p, looks := s.poller(), 0
			p.Probe = wrap(p.Probe, &looks)
			o, err := p.Run(t.Context())
			if len(s.requests) < 3 || slices.Index(s.requests, "POST /jobs") != 0 || slices.Contains(s.requests[1:], "POST /jobs") {
				t.Errorf("%s: requests %q", name, s.requests)
			}
			if err != nil || looks != len(s.requests) || looks != o.State.Attempts {
				t.Errorf("%s: %v after %d attempts and %d looks; requests %q", name, err, o.State.Attempts, looks, s.requests)
			}
			if strings.HasPrefix(name, "wrapped") && o.Target != "https://api.example.com/jobs" {
				t.Errorf("%s: the target is %q", name, o.Target)
			}
		})
	}
}

// A probe that makes several requests to one URL makes each of them as it says, also at once, and with
// what is new in the header. A start is sent once even so.
func TestRequestsWithinAProbeAreMadeAsTheySay(t *testing.T) {
	t.Parallel()
	token := func(a poll.Attempt) http.Header { return http.Header{"Authorization": {fmt.Sprint(a.Number)}} }
	var sent []string
	var mu sync.Mutex
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		body := []byte(nil)
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		sent = append(sent, strings.TrimSpace(fmt.Sprint(r.Method, r.URL.Path, " ", string(body), r.Header.Get("Authorization"))))
		answer := &http.Response{StatusCode: 202, Header: http.Header{"Location": {"/job"}, "Etag": {`"1"`}}, Body: io.NopCloser(strings.NewReader("")), Request: r}
		return answer, nil
	})
	url := "http://api.example.com"
	for _, c := range []struct {
		name  string
		looks func(ctx context.Context, a poll.Attempt)
		want  string // in two attempts
	}{
		{"two bodies", func(ctx context.Context, a poll.Attempt) {
			poll.HTTP{URL: url, Body: []byte("a"), Follow: "none", Transport: transport}.Look(ctx, a)
			poll.HTTP{URL: url, Body: []byte("b"), Follow: "none", Transport: transport}.Look(ctx, a)
		}, "[POST a POST b POST a POST b]"},
		{"a method that the body says", func(ctx context.Context, a poll.Attempt) {
			poll.HTTP{URL: url, Transport: transport}.Look(ctx, a)
			poll.HTTP{URL: url, Body: []byte("a"), Transport: transport}.Look(ctx, a)
		}, "[GET POST a GET GET/job]"},
		{"a header that is new", func(ctx context.Context, a poll.Attempt) {
			poll.HTTP{URL: url, Header: token(a), Transport: transport}.Look(ctx, a)
		}, "[GET 1 GET 2]"},
		{"a start with a header that is new", func(ctx context.Context, a poll.Attempt) {
			poll.HTTP{URL: url, Method: "POST", Header: token(a), Transport: transport}.Look(ctx, a)
		}, "[POST 1 GET/job 2]"},
		{"a start in another spelling", func(ctx context.Context, a poll.Attempt) {
			spelled := []string{url, "http://me@API.example.com:80#again"}[a.Number-1]
			poll.HTTP{URL: spelled, Method: "POST", Transport: transport}.Look(ctx, a)
		}, "[POST GET/job]"},
		{"at once", func(ctx context.Context, a poll.Attempt) {
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { poll.HTTP{URL: url, Method: "POST", Transport: transport}.Look(ctx, a) })
				all.Go(func() { poll.HTTP{URL: url + "/x", Transport: transport}.Look(ctx, a) })
			}
			all.Wait()
			slices.Sort(sent)
		}, "[GET/job GET/job GET/job GET/x GET/x GET/x GET/x POST]"},
	} {
		sent = nil
		p := poll.Poller{MaxAttempts: 2, Schedule: backoff.Fixed(time.Millisecond), Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
			c.looks(ctx, a)
			return poll.Observe(ctx, nil, io.EOF)
		})}
		if p.Run(t.Context()); fmt.Sprint(sent) != c.want {
			t.Errorf("%s: sent %s, want %s", c.name, sent, c.want)
		}
	}
}

// What a function makes of an answer is still about the answer: one to a start is no SUCCESS.
func TestAnAnswerThatIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s service
		p := s.poller()
		p.Rules = status.Rules{}
		p.Probe = poll.Wrap(p.Probe, func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
			return poll.Observe(ctx, next(ctx, a).Body, nil)
		})
		if _, err := p.Run(t.Context()); err != nil || len(s.requests) < 3 {
			t.Errorf("%v, requests %q", err, s.requests)
		}
	})
}

// The body that a function returns is the whole: no page of the response is evaluated next to the body, and a list
// of which pages are left out is not complete.
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
		o := p.Probe.Look(t.Context(), poll.Attempt{})
		if string(o.Body) != jobs("a=done") || o.Pages != nil || o.Output != nil {
			t.Errorf("body %s, pages %s, output %s", o.Body, o.Pages, o.Output)
		}
		outcomes, err := (&poll.Group{Timeout: 20 * time.Second}).Run(t.Context(), slices.Values([]poll.Poller{p}))
		if !errors.Is(err, poll.TimedOut) || len(outcomes) != 1 || outcomes[0].Ending != poll.Succeeded {
			t.Errorf("%+v, %v", outcomes, err)
		}
	})
}

// Of two calls of next at once one sends the start. A call that the function leaves behind ends before the attempt.
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

// A later run cannot go on with what a probe within another has started, and does not start it again.
func TestAStartWithinAnotherProbeIsNotSentByTheNextStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s service
		p := s.poller()
		p.Probe, p.Immediate = poll.ProbeFunc(logged{p.Probe, new(int)}.Look), true
		first, _ := p.Step(t.Context(), poll.State{})
		time.Sleep(time.Minute)
		if second, events := p.Step(t.Context(), first); len(s.requests) != 1 || second.Ended() || !events[0].Outcome.Unfinished || events[0].Outcome.Ending != poll.Failed {
			t.Errorf("requests %q, then %+v", s.requests, events[len(events)-1])
		}
	})
}

// Each look of a wrapped probe waits for the Limiter, and so does each request to another place.
func TestLooksOfAFunctionAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		sent := make(map[string][]time.Time)
		var mu sync.Mutex
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			sent[r.URL.Host] = append(sent[r.URL.Host], time.Now())
			return &http.Response{StatusCode: 503, Header: make(http.Header), Body: http.NoBody, Request: r}, nil
		})
		looks := func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) (o status.Observation) {
			for range 3 {
				o = next(ctx, a)
			}
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { poll.HTTP{URL: "http://b.example.com", Transport: transport}.Look(ctx, a) })
			}
			all.Wait()
			return o
		}
		p := poll.Poller{
			Probe: poll.Wrap(poll.HTTP{URL: "http://a.example.com", Transport: transport}, looks), MaxAttempts: 2,
			Limiter: &poll.Pacer{PerSecond: 5, Known: true}, Schedule: backoff.Fixed(10 * time.Millisecond), Immediate: true,
		}
		p.Run(t.Context())
		for host, at := range sent {
			if len(at) != 6 {
				t.Errorf("%s: %d requests", host, len(at))
			}
			for i := range at[1:] {
				if gap := at[i+1].Sub(at[i]); gap < 200*time.Millisecond {
					t.Errorf("%s: asked %s after the one before", host, gap)
				}
			}
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A probe that signs each request, and one that counts its looks, are around another.
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
