package poll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// unsent is a request that never left.
var unsent = status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{Kind: status.FailureTransient, Reason: "refused"}}

func TestStart_rejectedByTheServer(t *testing.T) {
	for name, test := range map[string]struct {
		poller   poll.Poller
		refusals map[int]status.Observation
		want     string
	}{
		"the hint is obeyed, and the schedule begins with the answer": {
			poll.Poller{}, map[int]status.Observation{1: hinted(429, 3*time.Second)}, `
0s      wait    #1 0s
0s      wait    #2 3.15s hint 3s
3.15s   wait    #3 100ms
3.25s   wait    #4 200ms
`},
		"without a hint, by the schedule": {
			poll.Poller{}, map[int]status.Observation{1: unsent, 2: unsent}, `
0s      wait    #1 0s
0s      wait    #2 100ms
100ms   wait    #3 200ms
300ms   wait    #4 100ms
`},
		"without a hint, throttled": {
			poll.Poller{Throttled: backoff.Fixed(7 * time.Second)}, map[int]status.Observation{1: answer(429)}, `
0s      wait    #1 0s
0s      wait    #2 7s
7s      wait    #3 100ms
7.1s    wait    #4 200ms
`},
		"by a schedule of its own": {
			poll.Poller{Schedule: backoff.Fixed(time.Hour), Throttled: backoff.Fixed(2 * time.Hour), Resend: backoff.Linear{Base: time.Second}},
			map[int]status.Observation{1: unsent, 2: answer(429)}, `
0s      wait    #1 0s
0s      wait    #2 1s
1s      wait    #3 3s
4s      wait    #4 1h0m0s
`},
	} {
		t.Run(name, func(t *testing.T) {
			p := test.poller
			p.Probe, p.MaxAttempts, p.Rand = &starting{refusals: test.refusals}, 4, rand.New(half{})
			wantTimeline(t, only(poll.EventWait, timeline(t, p)), test.want)
		})
	}
}

// The schedule gets the age of the operation, and only its own last wait.
func TestStart_scheduleCountsFromTheResponse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var have []backoff.Step
		var ages []string
		keep := func(d time.Duration) backoff.ScheduleFunc {
			return func(s backoff.Step, _ *rand.Rand) time.Duration {
				have = append(have, s)
				return d
			}
		}
		p := poll.Poller{
			Probe: &starting{
				operation: operation{takes: time.Second, readyAt: time.Minute},
				refusals:  map[int]status.Observation{1: unsent, 2: unsent},
			},
			InitialDelay: 10 * time.Second, Resend: keep(2 * time.Second), Schedule: keep(5 * time.Second), MaxAttempts: 5,
		}
		var outcome *poll.Outcome
		for e := range p.Events(t.Context()) {
			ages = append(ages, fmt.Sprintf("%s %s", e.Kind, e.Age()))
			outcome = e.Outcome
		}
		want := []backoff.Step{
			{N: 0, Elapsed: 10 * time.Second},
			{N: 1, Elapsed: 12 * time.Second, Previous: 2 * time.Second},
			{N: 0},
			{N: 1, Elapsed: 6 * time.Second, Previous: 5 * time.Second},
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		const wantAges = "wait 0s, start 0s, attempt 0s, wait 0s, start 0s, attempt 0s, wait 0s, start 0s, attempt 0s, " +
			"wait 0s, start 5s, attempt 6s, wait 6s, start 11s, attempt 12s, end 12s"
		if diff := cmp.Diff(wantAges, strings.Join(ages, ", ")); diff != "" {
			t.Errorf("ages (-want +got):\n%s", diff)
		}
		age := outcome.Elapsed - outcome.State.Began.Sub(outcome.State.Start)
		if age != 12*time.Second || outcome.Elapsed != 27*time.Second {
			t.Errorf("have %s of %s, want 12s of 27s", age, outcome.Elapsed)
		}
	})
}

// answering answers requests by method and path, as internal/httpscript would for one of each.
func answering(answers map[string]func(r *http.Request) (code int, header, value, body string)) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		code, name, value, body := answers[r.Method+" "+r.URL.Path](r)
		if code == 0 {
			return nil, context.Cause(r.Context())
		}
		return &http.Response{StatusCode: code, Header: http.Header{name: {value}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// A start request with a 303 as response counts as sent, even if the request after the 303 was cut off.
func TestStart_requestAfterA303IsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poll.Poller{Timeout: time.Second, Probe: poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST", Transport: answering(map[string]func(*http.Request) (int, string, string, string){
			"POST /jobs": func(*http.Request) (int, string, string, string) { return 303, "Location", "/jobs/1", "" },
			"GET /jobs/1": func(r *http.Request) (int, string, string, string) {
				<-r.Context().Done()
				return 0, "", "", ""
			},
		})}}
		if o, _ := p.Run(t.Context()); o.Ending != poll.TimedOut || o.State.Starting {
			t.Errorf("%s, starting %v", o.Ending, o.State.Starting)
		}
	})
}

// Each request of a wait is signed anew, that for the result, too.
func TestTheRequestForAResultIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signatures := 0
		p := poll.Poller{Probe: poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST",
			Refresh: func(*http.Request, bool) (http.Header, error) {
				signatures++
				return http.Header{"X-Signature": {fmt.Sprint(signatures)}}, nil
			},
			Transport: answering(map[string]func(*http.Request) (int, string, string, string){
				"POST /jobs": func(*http.Request) (int, string, string, string) { return 202, "Operation-Location", "/jobs/1", "" },
				"GET /jobs/1": func(*http.Request) (int, string, string, string) {
					return 200, "X", "", `{"status":"succeeded","resourceLocation":"/rows"}`
				},
				"GET /rows": func(r *http.Request) (int, string, string, string) {
					return 200, "X", "", r.Header.Get("X-Signature")
				},
			})}}
		if o, err := p.Run(t.Context()); err != nil || string(o.Observation.Body) != "3" {
			t.Errorf("%v: the result was asked for with signature %s", err, o.Observation.Body)
		}
	})
}

// A function that wraps a probe makes no success of a missing result or a missing response.
func TestWrap_makesNoSuccessOfAMissingResult(t *testing.T) {
	anew := func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
		return poll.Observe(ctx, next(ctx, a).Body, nil)
	}
	synctest.Test(t, func(t *testing.T) {
		inner := poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST", Transport: answering(map[string]func(*http.Request) (int, string, string, string){
			"POST /jobs": func(*http.Request) (int, string, string, string) { return 202, "Operation-Location", "/jobs/1", "" },
			"GET /jobs/1": func(*http.Request) (int, string, string, string) {
				return 200, "X", "", `{"status":"succeeded","resourceLocation":"/rows"}`
			},
			"GET /rows": func(*http.Request) (int, string, string, string) { return 404, "X", "", "rows" },
		})}
		p := poll.Poller{Timeout: time.Minute, Probe: poll.Wrap(inner, anew)}
		if o, _ := p.Run(t.Context()); o.Ending == poll.Succeeded {
			t.Errorf("%s: %s", o.Ending, o.Reason)
		}
		inner.Method, inner.Transport = "", roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
		p.Probe = poll.Wrap(inner, anew)
		if o, _ := p.Run(t.Context()); o.Ending != poll.TimedOut {
			t.Errorf("without an answer: %s: %s", o.Ending, o.Reason)
		}
	})
}

// A value cannot be had from a wait that has ended before.
func TestUntilWith_past(t *testing.T) {
	p := poll.Poller{Past: &poll.State{Ending: poll.Succeeded}}
	if _, err := poll.UntilWith(t.Context(), p, func(context.Context) (int, bool, error) { return 1, true, nil }); err == nil {
		t.Error("no error")
	}
}

// steps waits by steps. The state between two steps goes through JSON.
func steps(t *testing.T, p *poll.Poller, ctx context.Context) iter.Seq[poll.Event] {
	return func(yield func(poll.Event) bool) {
		kept := []byte(`{"v":3}`)
		for {
			var state poll.State
			if err := json.Unmarshal(kept, &state); err != nil {
				t.Errorf("%v: %s", err, kept)
				return
			}
			state, events := p.Step(ctx, state)
			for _, e := range events {
				if !yield(e) || e.Kind == poll.EventEnd {
					return
				}
			}
			var err error
			if kept, err = json.Marshal(state); err != nil {
				t.Error(err)
				return
			}
			last := events[len(events)-1]
			due := last.State.Due
			if d := last.Deadline; !d.IsZero() && d.Before(due) {
				due = d
			}
			sleep(ctx, time.Until(due))
		}
	}
}

// Every conversation goes the same way by steps. A State holds no cookies and no
// validators; and a result that is not there yet is looked for where the operation's status
// is.
func TestConversations_bySteps(t *testing.T) {
	otherwise := map[string]bool{
		"conditional": true, "cookies": true, "unfetched": true,
		"the first look at a result is part of the attempt that said done, and each look takes its turn": true,
		"the result is looked for until it is there":                                                     true,
		"a page that a redirect led to is not the result":                                                true,
	}
	converse(t, func(t *testing.T, c conversation) {
		if otherwise[c.file] || otherwise[c.name] {
			t.SkipNow()
		}
		c.run(t, func(p *poll.Poller, ctx context.Context) iter.Seq[poll.Event] { return steps(t, p, ctx) })
	})
}

// The deadline belongs to the whole wait, even if a step comes after the deadline.
func TestAStepAfterTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := poll.Poller{Probe: &operation{}, Schedule: backoff.Fixed(time.Minute), Timeout: 90 * time.Second}
		state, _ := p.Step(t.Context(), poll.State{})
		time.Sleep(2 * time.Minute)
		state, events := p.Step(t.Context(), state)
		if o := events[0].Outcome; o == nil || o.Ending != poll.TimedOut || o.Reason != "timed out after 1m30s" || state.Ended() {
			t.Errorf("events %+v", events)
		}
	})
}

// A limiter that takes until the deadline ends the wait in the step.
func TestAStepAtTheDeadlineInItsLimiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := poll.Poller{Probe: poll.HTTP{URL: "http://a.test"}, Limiter: slowLimiter(time.Minute), Timeout: 30 * time.Second}
		now := time.Now()
		_, events := p.Step(t.Context(), poll.State{Start: now, Began: now, Attempts: 1, Last: now, Due: now})
		if last := events[len(events)-1]; last.Outcome == nil || last.Outcome.Ending != poll.TimedOut {
			t.Errorf("events %+v", events)
		}
	})
}

// A function that checks an HTTP with an Attempt of its own sends no start request.
func TestAStartWithAnAttemptOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		sent := 0
		start := poll.HTTP{URL: "http://a.test", Method: "POST", Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, errors.New("lost")
		})}
		p := poll.Poller{Timeout: time.Minute, Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
			return start.Check(ctx, poll.Attempt{Number: a.Number}).Observation
		})}
		if o, _ := p.Run(t.Context()); sent != 0 || o.Status != status.Error {
			t.Errorf("%d requests, %s: %s", sent, o.Status, o.Reason)
		}
	})
}

// A Start in the future, and a hint without a wait, are ignored.
func TestAStartInTheFuture(t *testing.T) {
	bubble(t, func(t *testing.T) {
		probe := poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
			o := poll.Observe(ctx, nil, errors.New("no"))
			o.RetryAfter = &status.RetryAfter{Wait: -time.Hour, Source: "x"}
			return o
		})
		p := poll.Poller{Probe: probe, Start: time.Now().Add(time.Hour), MaxAttempts: 2}
		if o, _ := p.Run(t.Context()); o.Elapsed < 0 || o.Elapsed > time.Minute || strings.Contains(o.Reason, "asks for") {
			t.Errorf("%s: %s", o.Elapsed, o.Reason)
		}
	})
}

// A slowLimiter takes a time for each answer.
type slowLimiter time.Duration

func (s slowLimiter) Next(string, time.Time) (time.Time, string) {
	time.Sleep(time.Duration(s))
	return time.Now(), ""
}

func (slowLimiter) Done(string, poll.Feedback) {}

// The deadline of a step's context cuts its attempt short in time to keep the state. It is
// none of the wait: a hint may lead past it, and no look comes early because of it.
func TestTheDeadlineOfAStep(t *testing.T) {
	for name, test := range map[string]struct {
		timeout, attempt time.Duration
		op               operation
		want             string
	}{
		"a wait that outlasts it": {0, 0, operation{}, "0s NOT_READY, then 2m0s"},
		"a hint that outlasts it": {
			0, 0, operation{answers: map[int]status.Observation{1: hinted(429, time.Hour)}}, "0s THROTTLED, then 1h3m0s",
		},
		"an attempt that does":         {0, 0, operation{takes: time.Hour}, "55s NOT_READY, then 2m0s"},
		"an attempt with its own":      {0, time.Second, operation{takes: time.Hour}, "1s NOT_READY, then 2m0s"},
		"an attempt with a longer one": {0, time.Hour, operation{takes: time.Hour}, "55s NOT_READY, then 2m0s"},
		"the deadline of the wait":     {90 * time.Second, 0, operation{takes: time.Second}, "1s NOT_READY, then 1m27s"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := poll.Poller{
					Probe: &test.op, Schedule: backoff.Fixed(2 * time.Minute), Immediate: true, Rand: rand.New(half{}),
					Timeout: test.timeout, AttemptTimeout: test.attempt,
				}
				begun := time.Now()
				state, events := p.Step(ctx, poll.State{})
				next := events[len(events)-1]
				have := fmt.Sprintf("%s %s, then %s", time.Since(begun), state.Status, next.Wait)
				if have != test.want || next.Kind != poll.EventWait {
					t.Errorf("have %s with %s, want %s", next.Kind, have, test.want)
				}
			})
		})
	}
}

// A step whose context was done before its start makes no attempt, and the next step continues the wait.
func TestAStepThatComesTooLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(time.Minute)
		p := poll.Poller{Probe: &operation{}, Immediate: true}
		state, events := p.Step(ctx, poll.State{})
		o := events[len(events)-1].Outcome
		if o == nil || o.Ending != poll.Interrupted || !errors.Is(o.Cause, context.DeadlineExceeded) || state.Ended() {
			t.Fatalf("events %+v", events)
		}
		if state, _ = p.Step(t.Context(), state); state.Attempts != 1 {
			t.Errorf("after that: %+v", state)
		}
	})
}

// A step whose attempt has to wait for the limiter makes no attempt, and yields one EventWait, which has the reason.
func TestAStepThatTheLimiterHolds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		limiter := &poll.Pacer{PerSecond: 0.1}
		limiter.Next("the service", time.Time{})
		p := poll.Poller{Probe: atPlace{&operation{}}, Immediate: true, Limiter: limiter}
		state, events := p.Step(t.Context(), poll.State{})
		last := events[len(events)-1]
		if last.Kind != poll.EventWait || last.HeldBy != "rate" || last.Wait != 10*time.Second || state.Attempts != 0 {
			t.Errorf("state %+v, last event %+v", state, last)
		}
		time.Sleep(last.Wait)
		if state, events = p.Step(t.Context(), state); state.Attempts != 1 || events[0].Kind != poll.EventStart {
			t.Errorf("after the wait: state %+v, events %+v", state, events)
		}
	})
}

// A workflow engine keeps the state, and comes again when it is time.
func ExamplePoller_Step() {
	looks := 0
	p := poll.Poller{
		Schedule: backoff.Fixed(time.Millisecond),
		Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
			if looks++; looks < 3 {
				return poll.Observe(ctx, nil, fmt.Errorf("%d of 3", looks))
			}
			return poll.Observe(ctx, []byte("done"), nil)
		}),
	}
	kept := []byte(`{"v":3}`) // as in a database
	for {
		var state poll.State
		if err := json.Unmarshal(kept, &state); err != nil {
			fmt.Println(err)
			return
		}
		state, events := p.Step(context.Background(), state)
		if state.Attempts > 0 {
			fmt.Println(state.Attempts, state.Status, state.Reason)
		}
		if state.Ended() {
			fmt.Println(state.Ending)
			return
		}
		kept, _ = json.Marshal(state)
		next := events[len(events)-1].State.Due
		time.Sleep(time.Until(next)) // elsewhere, in another process
	}
	// Output:
	// 1 NOT_READY 1 of 3
	// 2 NOT_READY 2 of 3
	// 3 SUCCESS the probe reports no failure
	// succeeded
}

// A resumed start request follows no further redirect if the earlier run followed more than the new MaxRedirects.
func TestMaxRedirectsOfAResumedStart(t *testing.T) {
	sent, answer := 0, 0
	web := poll.HTTP{URL: "http://api.example.com/0", Method: "POST", MaxRedirects: 2, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		sent++
		code := http.StatusTemporaryRedirect
		if sent == answer {
			code = http.StatusTooManyRequests
		}
		header := http.Header{"Location": {fmt.Sprint("/", sent)}}
		return &http.Response{StatusCode: code, Header: header, Body: http.NoBody, Request: r}, nil
	})}
	answer = 3
	first := poll.Poller{Probe: web, Rules: status.MustUntil(`.state == "done"`)}
	saved, _ := first.Step(t.Context(), poll.State{})
	sent, answer = 0, 20
	web.MaxRedirects = 1
	second := poll.Poller{Probe: web, Rules: first.Rules, Past: &saved, MaxAttempts: 2, Schedule: backoff.Fixed(time.Millisecond), Throttled: backoff.Fixed(time.Millisecond)}
	if o, _ := second.Run(t.Context()); sent != 1 || o.Ending != poll.Failed {
		t.Errorf("%d requests, %s", sent, o.Reason)
	}
}
