package poll_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// AttemptTimeout limits all parts of an attempt. Only the time that requests wait for a Limiter does not count.
func TestAttemptTimeoutWithoutTheTimeInGates(t *testing.T) {
	responding := func(takes time.Duration, next string) poll.HTTP {
		return poll.HTTP{URL: "http://a.example.com/", Next: "auto", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if !sleep(r.Context(), takes) {
				return nil, r.Context().Err()
			}
			header := make(http.Header)
			if r.URL.Path != next {
				header.Set("Link", "<"+next+`>; rel="next"`)
			}
			return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(`[]`)), Request: r}, nil
		})}
	}
	refreshing := responding(0, "/")
	refreshing.Refresh = func(r *http.Request, refused bool) (http.Header, error) {
		sleep(r.Context(), time.Minute)
		return nil, r.Context().Err()
	}
	for _, test := range []struct {
		name  string
		probe poll.Probe
		took  time.Duration // of the first attempt
	}{
		{"a function", poll.Wrap(responding(0, "/"), func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
			sleep(ctx, time.Minute)
			return next(ctx, a)
		}), time.Second},
		{"a function of Refresh", refreshing, time.Second},
		{"two pages that are quick", responding(400*time.Millisecond, "/2"), 10*time.Second + 400*time.Millisecond},
		{"two pages that are slow", responding(600*time.Millisecond, "/2"), 10*time.Second + 400*time.Millisecond},
	} {
		for _, limiter := range []poll.Limiter{&poll.Pacer{PerSecond: 0.1}, nil} {
			synctest.Test(t, func(t *testing.T) {
				p := poll.Poller{Probe: test.probe, AttemptTimeout: time.Second, Limiter: limiter, Immediate: true, MaxAttempts: 1}
				took, want := time.Duration(0), test.took
				for e := range p.Events(t.Context()) {
					if e.Kind == poll.EventAttempt {
						took = e.Took
					}
				}
				if limiter == nil {
					want = min(want, map[bool]time.Duration{true: 800 * time.Millisecond, false: time.Second}[strings.Contains(test.name, "quick")])
				}
				if took != want {
					t.Errorf("%s, limited: %v: the attempt took %s, want %s", test.name, limiter != nil, took, want)
				}
			})
		}
	}
}

// A step leaves time to keep the State, also if its requests wait for a Limiter.
func TestAStepThatWaitsForALimiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		probe := poll.HTTP{URL: "http://a.example.com/", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			header := http.Header{"Location": {"http://b.example.com/"}}
			return &http.Response{StatusCode: 302, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		})}
		p := poll.Poller{Probe: probe, Limiter: &poll.Pacer{PerSecond: 0.01}, Immediate: true, Schedule: backoff.Fixed(time.Minute)}
		begun := time.Now()
		state, events := p.Step(ctx, poll.State{})
		have := fmt.Sprint(time.Since(begun), " ", events[len(events)-1].Kind, " ", state.Attempts)
		if have != "9s wait 1" {
			t.Errorf("have %s, want 9s wait 1", have)
		}
	})
}
