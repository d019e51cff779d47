package poll_test

import (
	"context"
	"errors"
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

// untilDeadline runs p in a bubble, with a context that has a deadline, and writes a line
// for each event.
func untilDeadline(t *testing.T, after time.Duration, p poll.Poller) (events string, o poll.Outcome, deadline time.Duration) {
	t.Helper()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		began := time.Now()
		for e := range p.Events(ctx) {
			fmt.Fprintln(&b, line(e))
			if deadline = e.Deadline.Sub(began); e.Kind == poll.EventEnd {
				o = *e.Outcome
			}
		}
	})
	return b.String(), o, deadline
}

func TestTheDeadlineOfTheContextIsPlannedFor(t *testing.T) {
	for name, test := range map[string]struct {
		context, deadline time.Duration
		want              string
	}{
		"alone": {context: 10 * time.Second, deadline: 10 * time.Second, want: `
0s      wait    #1 7s
7s      wait    #2 2.95s last look
9.95s   wait    #3 25ms last look
9.975s  end     timed out NOT_READY after 3: timed out after 10s; last: HTTP 202 Accepted
`},
		"over": {context: -time.Second, deadline: -time.Second, want: `
0s      wait    #1 0s last look
0s      end     timed out  after 0: timed out after 0s
`},
	} {
		t.Run(name, func(t *testing.T) {
			p := poll.Poller{Probe: &operation{}, Schedule: backoff.Fixed(7 * time.Second)}
			events, o, deadline := untilDeadline(t, test.context, p)
			wantTimeline(t, only(poll.EventWait, events)+only(poll.EventEnd, events), test.want)
			if err := o.Err(); !errors.Is(err, poll.TimedOut) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, poll.Interrupted) {
				t.Errorf("have %v, want TimedOut and DeadlineExceeded", err)
			}
			if deadline != test.deadline {
				t.Errorf("the events name a deadline after %s, want %s", deadline, test.deadline)
			}
		})
	}
}

func TestOnlyATimeoutIsDeadlineExceeded(t *testing.T) {
	for _, ending := range allEndings {
		if have, want := errors.Is(ending, context.DeadlineExceeded), ending == poll.TimedOut; have != want {
			t.Errorf("%s: have %v, want %v", ending, have, want)
		}
	}
}

// The time that is reserved for the last attempt depends on whole responses: a rejected request and a failed connection take less time.
func TestReserve_ignoresFailedAttempts(t *testing.T) {
	for name, quick := range map[string]error{
		"a refusal":           poll.Throttled(errors.New("busy"), time.Second),
		"a failed connection": errors.New("connection refused"),
	} {
		t.Run(name, func(t *testing.T) {
			attempt := 0
			probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				if attempt++; attempt == 2 || attempt == 3 || attempt == 4 {
					return poll.Observe(ctx, nil, quick)
				}
				select {
				case <-time.After(3 * time.Second):
					return poll.Observe(ctx, []byte(fmt.Sprintf(`{"done":%t}`, attempt > 4)), nil)
				case <-ctx.Done():
					return poll.Observe(ctx, nil, ctx.Err())
				}
			})
			p := poll.Poller{Probe: probe, Rules: conditions(t, ".done"), Schedule: backoff.Fixed(9 * time.Second)}
			if _, o, _ := untilDeadline(t, 47*time.Second, p); o.Ending != poll.Succeeded {
				t.Errorf("%s after %d attempts: %s", o.Ending, attempt, o.Reason)
			}
		})
	}
}

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

// A complete response comes just before the deadline. The response decides if its evaluation takes no time.
// Otherwise, the run is over.
func TestDeadline_duringTheEvaluation(t *testing.T) {
	rules := conditions(t, `!any(.[]; . == "failed")`, `.# > 0`)
	gone := errors.New("gone")
	for _, test := range []struct {
		name      string
		elements  int
		interrupt bool
		want      string // and by which attempt's answer
	}{
		{"short, deadline", 10, false, "succeeded SUCCESS 2"},
		{"short, interrupted", 10, true, "succeeded SUCCESS 2"},
		{"long, deadline", 300_000, false, "timed out NOT_READY 1"},
		{"long, interrupted", 300_000, true, "interrupted NOT_READY 1"},
	} {
		body := []byte("[" + strings.Repeat(`"ok",`, test.elements) + `"ok"]`)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			probe := poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
				o := poll.Observe(ctx, body, nil)
				switch {
				case a.Number == 1:
					o.Body = []byte("[]")
				case test.interrupt:
					cancel(gone)
				default:
					time.Sleep(2 * time.Second)
				}
				return o
			})
			p := poll.Poller{Probe: probe, Timeout: time.Second, Rules: rules}
			for e := range p.Events(ctx) {
				if e.Kind != poll.EventEnd {
					continue
				}
				have := fmt.Sprint(e.Outcome.Ending, " ", e.Outcome.Status, " ", e.Outcome.Observation.Attempt)
				if have != test.want {
					t.Errorf("%s: %s (%s), want %s", test.name, have, e.Outcome.Reason, test.want)
				}
			}
		})
	}
}
