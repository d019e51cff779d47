package poll_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
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

// An origin that has requested a wait gets no request until the wait is over: not from any target, not after a
// redirect, and not from later runs that continue from the States.
func TestAnOriginStaysClosedForAllTargets(t *testing.T) {
	for _, test := range []struct {
		name, url string
		refusal   int
		header    http.Header
	}{
		{"refused", "http://b.example.com/", 429, http.Header{"Retry-After": {"20"}}},
		{"refused behind a redirect", "http://a.example.com/", 429, http.Header{"Retry-After": {"20"}}},
		{"nothing remains", "http://b.example.com/", 200, http.Header{"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"20"}}},
		{"nothing remains behind a redirect", "http://a.example.com/", 200, http.Header{"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"20"}}},
	} {
		for _, run := range []time.Duration{time.Minute, 5 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				start, requests, early := time.Now(), 0, 0
				var closed time.Time
				transport := roundTripper(func(r *http.Request) (*http.Response, error) {
					code, header, body := 200, make(http.Header), `{"state":"done"}`
					switch requests++; {
					case r.URL.Host == "a.example.com":
						code, header = 301, http.Header{"Location": {"http://b.example.com" + r.URL.Path}}
					case closed.IsZero():
						code, header, body, closed = test.refusal, test.header, `{"state":"done"}`, time.Now().Add(20*time.Second)
					case time.Now().Before(closed):
						early++
					}
					return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
				})
				var targets []poll.Poller
				for i := range 5 {
					probe := poll.HTTP{URL: fmt.Sprint(test.url, i), Transport: transport}
					targets = append(targets, poll.Poller{Probe: probe, Rules: conditions(t, `.state == "done"`), Schedule: backoff.Fixed(time.Second)})
				}
				var err error
				for range time.Minute / run {
					begun := time.Now()
					g := poll.Group{Timeout: run, Limiter: &poll.Pacer{PerSecond: 10, Rand: rand.New(still{})}, Rand: rand.New(still{})}
					var outcomes []poll.Outcome
					if outcomes, err = g.Run(t.Context(), slices.Values(targets)); err == nil {
						break
					}
					for i, o := range outcomes {
						targets[i].Past = new(reread(t, o.State))
						if i == 4 && (o.Ending != poll.HintTooLong || !strings.Contains(o.Reason, "http://b.example.com:80 is closed for ")) {
							t.Errorf("%s: %s: %s", test.name, o.Ending, o.Reason)
						}
					}
					time.Sleep(time.Until(begun.Add(run)))
				}
				if took := time.Since(start); err != nil || early > 0 || took < 20*time.Second || took > 30*time.Second {
					t.Errorf("%s, runs of %v: %d of %d requests are too early; %v after %v", test.name, run, early, requests, err, took)
				}
			})
		}
	}
}

// A refusal closes the origin even if a rule makes an ERROR of the response.
func TestAnOriginStaysClosedAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []string
		began := time.Now()
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			requests = append(requests, fmt.Sprint(int(time.Since(began).Seconds()), "s ", r.URL.Path))
			code, header := 200, make(http.Header)
			if r.URL.Path == "/1" {
				code, header = 429, http.Header{"Retry-After": {"20"}}
			}
			return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(`{"state":"done"}`)), Request: r}, nil
		})
		targetOf := func(path string) poll.Poller {
			return poll.Poller{Probe: poll.HTTP{URL: "http://a.example.com/" + path, Transport: transport}, Rules: conditions(t, `.state == "done"`, "!$status == 429")}
		}
		second := targetOf("2")
		second.InitialDelay = time.Second
		g := poll.Group{Limiter: &poll.Pacer{Rand: rand.New(still{})}, Rand: rand.New(still{}), Timeout: time.Minute}
		g.Run(t.Context(), slices.Values([]poll.Poller{targetOf("1"), second}))
		if have, want := fmt.Sprint(requests), "[0s /1 20s /2]"; have != want {
			t.Errorf("have %s, want %s", have, want)
		}
	})
}

// A Limiter spaces the requests of an HTTP in a function.
func TestRequestsInAFunctionAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		requests := 0
		inner := poll.HTTP{URL: "http://a.example.com/", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			requests++
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"state":"running"}`)), Request: r}, nil
		})}
		p := poll.Poller{
			Probe:   poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation { return inner.Check(ctx, a).Observation }),
			Rules:   conditions(t, `.state == "done"`),
			Limiter: &poll.Pacer{PerSecond: 1}, Schedule: backoff.Fixed(50 * time.Millisecond), Timeout: 10 * time.Second,
		}
		if p.Run(t.Context()); requests < 9 || requests > 11 {
			t.Errorf("%d requests in 10 s", requests)
		}
	})
}

// While an origin is closed, redirects to it do not hold up the targets at the redirecting origin.
func TestAClosedOriginHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var targets []poll.Poller
		start, requests, last := time.Now(), 0, time.Duration(0)
		for i := range 8 {
			path, attempts := "/", 0
			if i < 4 {
				path = "/moved/"
			}
			transport := roundTripper(func(r *http.Request) (*http.Response, error) {
				code, header, body := 200, make(http.Header), `{"state":"done"}`
				switch attempts++; {
				case r.URL.Host == "a.example.com" && i < 4:
					code, header = 302, http.Header{"Location": {"http://b.example.com" + r.URL.Path}}
				case r.URL.Host == "a.example.com" && attempts < 3:
					body = `{"state":"running"}`
				case i < 4 && time.Since(start) < 30*time.Second:
					requests++
					code, header = 429, http.Header{"Retry-After": {"30"}}
				}
				return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})
			probe := poll.HTTP{URL: fmt.Sprint("http://a.example.com", path, i), Transport: transport}
			targets = append(targets, poll.Poller{Probe: probe, Rules: conditions(t, `.state == "done"`), Schedule: backoff.Fixed(time.Second)})
		}
		g := poll.Group{Timeout: time.Minute, Limiter: &poll.Pacer{PerSecond: 10, Rand: rand.New(still{})}, ParallelPlace: func(string) int { return 2 }}
		for e := range g.Events(t.Context(), slices.Values(targets)) {
			switch {
			case e.Kind == poll.EventEnd && !strings.Contains(e.Target, "moved"):
				last = e.Elapsed
			case e.Kind == poll.EventGoal && (e.Summary.Ending != poll.Succeeded || last > 10*time.Second || requests > 2):
				t.Errorf("%v, %d early requests, the last target without a redirect ended after %s", e.Summary.Err(), requests, last)
			}
		}
	})
}
