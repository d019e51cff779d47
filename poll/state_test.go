package poll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A service starts a job by POST, and reports its state at /jobs/1 to clients that send the cookie back. The job
// is done after 5 s. The service records its requests.
type service struct {
	requests []string
	began    time.Time
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	code, header, text := 202, make(http.Header), ""
	switch {
	case r.Method == "POST":
		s.began = time.Now()
		header.Set("Location", "/jobs/1?sig=x")
		header.Set("Set-Cookie", "sid=s3cret")
	case r.Header.Get("Cookie") != "sid=s3cret":
		code = 403
	case time.Since(s.began) >= 5*time.Second:
		code, text = 200, "result"
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func (s *service) poller() poll.Poller {
	return poll.Poller{
		Probe: poll.HTTP{
			URL: "https://me:s3cret@api.example.com/jobs", Method: "POST", Body: []byte("s3cret"), Transport: s,
			Header: http.Header{"X-Api-Key": {"s3cret"}},
		},
		Schedule: backoff.Exponential{Base: time.Second, Factor: 2},
	}
}

// last returns the last event of a run and the state after it, in JSON and back.
func last(t *testing.T, ctx context.Context, p poll.Poller) (end poll.Event, state poll.State) {
	t.Helper()
	for e := range p.Events(ctx) {
		end, state = e, e.State
	}
	return end, reread(t, state)
}

func reread(t *testing.T, s poll.State) (again poll.State) {
	t.Helper()
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const cookies = `,"cookies":["sid=s3cret"]` // of the URL that is followed
	if strings.Contains(strings.Replace(string(text), cookies, "", 1), "s3cret") {
		t.Errorf("a secret is kept: %s", text)
	}
	return again
}

// Runs whose last attempt comes too late reserve more time for the next last attempt.
func TestSlicesOfASlowingProbe(t *testing.T) {
	for name, in := range map[string]func(poll.Probe) poll.Probe{
		"a response": func(p poll.Probe) poll.Probe { return p },
		"a stream": func(p poll.Probe) poll.Probe {
			stream := poll.HTTP{URL: "http://stream.invalid/", Stream: true}
			return poll.Wrap(stream, func(ctx context.Context, a poll.Attempt, _ func(context.Context, poll.Attempt) status.Observation) status.Observation {
				return p.Check(ctx, a).Observation
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				state, began, takes := poll.State{}, time.Now(), 100*time.Millisecond
				probe := poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
					return operation{takes: takes, readyAt: 8 * time.Second}.Check(ctx, a).Observation
				})
				p := poll.Poller{Probe: in(probe), Rules: conditions(t, "$status == 200"), Schedule: backoff.Fixed(20 * time.Second), Timeout: 4 * time.Second}
				for !state.Ended() && time.Since(began) < time.Minute {
					p.Past, p.Start = &state, time.Now()
					_, state = last(t, t.Context(), p)
					takes = 300 * time.Millisecond
				}
				if !state.Ended() {
					t.Errorf("the end of a slice cut all last attempts of a minute: %+v", state)
				}
			})
		})
	}
}

// The time before a run counts for the first wait of the run, whether this wait was planned or not.
func TestTheFirstWaitOfARunThatGoesOn(t *testing.T) {
	hint := &status.RetryAfter{Wait: time.Minute, Source: "Retry-After"}
	for name, test := range map[string]struct {
		change func(s *poll.State, now time.Time)
		want   string
	}{
		"none was planned":           {func(*poll.State, time.Time) {}, "15s #4"},
		"it is over":                 {func(s *poll.State, now time.Time) { s.Last = now.Add(-time.Hour) }, "0s #4"},
		"it was planned":             {func(s *poll.State, now time.Time) { s.Due = now.Add(7 * time.Second) }, "7s #4"},
		"planned too far ahead":      {func(s *poll.State, now time.Time) { s.RetryAfter, s.Due = hint, now.Add(time.Hour) }, "1m6s #4"},
		"too far ahead by a limiter": {func(s *poll.State, now time.Time) { s.Due, s.Reserved = now.Add(time.Hour), true }, "20s #4"},
		"it was due":                 {func(s *poll.State, now time.Time) { s.Due = now.Add(-7 * time.Second) }, "0s #4"},
		"a hint":                     {func(s *poll.State, now time.Time) { s.RetryAfter = hint }, "57.75s #4"}, // and 5% of the rest
		"a hint that is over": {func(s *poll.State, now time.Time) {
			s.RetryAfter, s.Last = hint, now.Add(-time.Hour)
		}, "0s #4"},
		"throttled":             {func(s *poll.State, now time.Time) { s.Status = status.Throttled }, "35s #4"},
		"throttled again":       {func(s *poll.State, now time.Time) { s.Status, s.Refusals = status.Throttled, 2 }, "1m15s #4"},
		"throttled before":      {func(s *poll.State, now time.Time) { s.Refusals = 1 }, "35s #4"},
		"throttled with a hint": {func(s *poll.State, now time.Time) { s.Status, s.RetryAfter = status.Throttled, hint }, "57.75s #4"},
		"a clock that went back": {func(s *poll.State, now time.Time) {
			s.Last, s.Start, s.Began = now.Add(1e12), now.Add(1e12), now.Add(1e12)
		}, "20s #4"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				now := time.Now()
				state := poll.State{
					Start: now.Add(-time.Minute), Began: now.Add(-time.Minute), Last: now.Add(-5 * time.Second),
					Attempts: 3, Status: status.NotReady, Streak: 3,
				}
				state.Previous = 20 * time.Second
				test.change(&state, now)
				state = reread(t, state)
				p := poll.Poller{
					Probe: &operation{}, Schedule: backoff.Fixed(20 * time.Second), Throttled: backoff.Fixed(40 * time.Second),
					Past: &state, Rand: rand.New(half{}),
				}
				for e := range p.Events(t.Context()) {
					if have := fmt.Sprintf("%s #%d", e.Wait, attemptOf(e)); have != test.want || e.State.Reserved {
						t.Errorf("have a wait of %s (reserved: %t), want %s", have, e.State.Reserved, test.want)
					}
					break
				}
			})
		})
	}
}

// A start that cannot be announced is not sent, and the next run sends it.
func TestAStartThatCannotBeAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		errFull := errors.New("no space left")
		var s service
		p := s.poller()
		p.Starting = func(poll.State) error { return errFull }
		end, state := last(t, t.Context(), p)
		if o := end.Outcome; o.Ending != poll.Failed || !errors.Is(o.Err(), errFull) || o.Reason != "no space left" || o.State.Attempts != 0 || o.Status != status.Error {
			t.Errorf("outcome %+v", o)
		}
		group := poll.Group{Limiter: &poll.Pacer{}}
		if outcomes, err := group.Run(t.Context(), slices.Values([]poll.Poller{p})); len(outcomes) != 1 || !errors.Is(err, errFull) {
			t.Errorf("in a group: %+v, %v", outcomes, err)
		}
		if len(s.requests) > 0 || state.Ended() || state.Starting {
			t.Errorf("requests %q, state %+v", s.requests, state)
		}
		p.Starting, p.Past = nil, &state
		if end, _ = last(t, t.Context(), p); end.Outcome.Ending != poll.Succeeded {
			t.Errorf("after that: %+v", end.Outcome)
		}
	})
}

func TestStatesThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                            "version 0",
		`{"v":1}`:                       "version 1",
		`[]`:                            "cannot unmarshal",
		`{"v":3,"status":"DONE"}`:       `unknown status "DONE"`,
		`{"v":3,"ending":"timed out"}`:  `unknown ending "timed out"`,
		`{"v":3,"attempts":-1}`:         "counts are invalid",
		`{"v":3,"attempts":1,"sent":2}`: "counts are invalid",

		`{"v":3,"attempts":9223372036854775807}`: "counts are invalid",
		`{"v":3,"previous_ns":-1}`:               "counts are invalid",
		`{"v":3,"start":"the other day"}`:        "parsing time",
	} {
		var s poll.State
		if err := json.Unmarshal([]byte(text), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A wait that continues from any State ends, and its own State can be read.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"v":3}`))
	f.Add([]byte(`{"v":3,"start":"2026-01-02T03:04:05Z","began":"9999-01-02T03:04:05Z","attempts":3,"sent":1,"last":"2026-01-02T03:04:05Z",` +
		`"status":"THROTTLED","reason":"x","streak":3,"hint_s":1e300,"previous_ns":1e18,"took_s":5,"due":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"v":3,"attempts":1,"session":{"at":"https://other.example.com/","trusted":true,"monitor":2,"result":"::"}}`))
	f.Add([]byte(`{"v":3,"starting":true}`))
	f.Add([]byte(`{"v":3,"status":"SUCCESS","ending":"succeeded","elapsed_s":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var state poll.State
		if json.Unmarshal(text, &state) != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := poll.Poller{Probe: poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST"}, Past: &state}
		ends := 0
		for e := range p.Events(ctx) {
			if e.Kind == poll.EventEnd {
				ends++
			}
			again, err := json.Marshal(e.State)
			var back poll.State
			if err == nil {
				err = json.Unmarshal(again, &back)
			}
			if err != nil {
				t.Errorf("%v: %s", err, again)
			}
		}
		if ends != 1 {
			t.Errorf("%d ends", ends)
		}
	})
}

// A wait that cannot resume its operation must not start the operation again.
func TestASessionThatCannotGoOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := poll.Poller{Probe: &starting{}, MaxAttempts: 2, Schedule: backoff.Fixed(time.Second)}
		_, state := last(t, t.Context(), p)
		p.Past, p.MaxAttempts = &state, 0
		if end, _ := last(t, t.Context(), p); end.Outcome.Ending != poll.Failed || end.State.Attempts != 2 {
			t.Errorf("%+v", end.Outcome)
		}
	})
}

// responding responds to a start with one response, and to other requests with another: "202 /job" names a URL, and
// "200 {}" has a body.
type responding struct{ start, follow string }

func (r responding) RoundTrip(request *http.Request) (*http.Response, error) {
	text := r.follow
	if request.Method == http.MethodPost {
		text = r.start
	}
	code, rest, _ := strings.Cut(text, " ")
	response := &http.Response{Header: make(http.Header), Request: request}
	response.StatusCode, _ = strconv.Atoi(code)
	if strings.HasPrefix(rest, "/") {
		response.Header.Set("Location", rest)
		rest = ""
	}
	response.Body = io.NopCloser(strings.NewReader(rest))
	return response, nil
}

// A failed wait is the end of its operation only if a successful response reports the end, or the start was rejected.
func TestTheEndOfAWaitIsNotTheEndOfItsOperation(t *testing.T) {
	const running, failed, odd = `200 {"state":"running"}`, `200 {"state":"failed"}`, `200 {"state":"stuck"}`
	errorIf := func(condition string) status.Rule {
		rule := must(status.NewRule(status.Error, condition))
		return rule
	}
	const isOver = true
	for name, test := range map[string]struct {
		start, follow, errorIf string
		edit                   func(*poll.Poller)
		isOver                 bool
	}{
		"the document reports a failure":           {"202 /job", failed, "", nil, isOver},
		"the document reports an error":            {"202 /job", `200 {"error":"no"}`, "", nil, isOver},
		"a rule reads the failure":                 {"202 /job", odd, `.state == "stuck"`, nil, isOver},
		"a rule reads the time, and it failed":     {"202 /job", failed, "$elapsed > 0s", nil, isOver},
		"a rule reads the failure or the time":     {"202 /job", odd, `.state == "stuck" or $elapsed > 1h`, nil, isOver},
		"a rule reads the response to the start":   {"200 {}", "", "$status == 200", nil, isOver},
		"the start is rejected":                    {"400", "", "", nil, isOver},
		"a rule matches a start that is throttled": {"429", "", "$status == 429", nil, isOver},
		"the start is redirected to another origin": {"307 //other.invalid/", "", "", func(p *poll.Poller) {
			h := p.Probe.(poll.HTTP)
			h.Body = []byte("{}")
			p.Probe = h
		}, isOver},
		"the start is redirected to no URL":  {"308", "", "", nil, isOver},
		"the start is redirected in circles": {"307 /", "", "", nil, isOver},
		"a 302, which may name the result":   {"302 /result", "", "", nil, false},
		"403":                                {"202 /job", "403", "", nil, false},
		"403 by a rule":                      {"202 /job", "403", "$status == 403", nil, false},
		"a redirect loop":                    {"202 /job", "302 /job", "", nil, false},
		"a rule reads the time":              {"202 /job", odd, "$elapsed > 0s", nil, false},
		"a rule reads the time, too":         {"202 /job", odd, `.state == "stuck" and $attempt > 2`, nil, false},
		"a rule contradicts":                 {"202 /job", running, `.state == "running"`, nil, false},
		"strict":                             {"202 /job", running, "", func(p *poll.Poller) { p.Rules.Strict = true }, false},
		"no URL to follow":                   {`202 {"id":7}`, "", "", nil, false},
		"no URL, and a state":                {`200 {"state":"done"}`, "", "", nil, false},
		"the start may have failed":          {"500", "", "", nil, false},
		"the start is not successful":        {"200", "", "", func(p *poll.Poller) { p.Rules.Accept = []int{201} }, false},
		"the deadline":                       {"202 /job", running, "", func(p *poll.Poller) { p.Timeout = time.Minute }, false},
		"a start of an earlier run":          {"", "", "", func(p *poll.Poller) { p.Past = &poll.State{Starting: true} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := poll.Poller{Probe: poll.HTTP{URL: "http://job.invalid", Method: http.MethodPost, Transport: responding{test.start, test.follow}}}
				if test.edit != nil {
					p.Rules, _ = status.Until(`.state == "done" and .never`)
					test.edit(&p)
				}
				if test.errorIf != "" {
					p.Rules.Own = append(p.Rules.Own, errorIf(test.errorIf))
				}
				o, _ := p.Run(t.Context())
				isEnded := o.State.Ended()
				if o.Unfinished == test.isOver || isEnded != test.isOver || o.Ending == poll.Succeeded {
					t.Errorf("unfinished %t, ended %t, %s: %s", o.Unfinished, isEnded, o.Ending, o.Reason)
				}
			})
		})
	}
}

// $elapsed of an element counts from the begin of its list, in a later run, too.
func TestElapsedOfAListThatGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := ofJobs(t, poll.Elements{Known: []string{"a", "a"}}, "a=run", "a=done")
		p.Rules.Own = append(p.Rules.Own, rule(t, status.Error, "$elapsed > 90m"))
		p.Past, p.Schedule = &poll.State{Start: time.Now().Add(-time.Hour), Attempts: 1}, backoff.Fixed(time.Second)
		p.Elements.Past = map[string]poll.State{"a": *p.Past}
		outcomes, err := (&poll.Group{}).Run(t.Context(), slices.Values([]poll.Poller{p}))
		if err != nil || len(outcomes) != 1 {
			t.Errorf("%v: %+v", err, outcomes)
		}
	})
}

// A wait of any length that a probe requests survives a State: the next Step makes no attempt before the end of that
// wait.
func TestAVeryLongRequestedWait(t *testing.T) {
	for _, wait := range []time.Duration{math.MaxInt64, math.MaxInt64 / 11 * 10, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			p := poll.Poller{Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				attempts++
				return poll.Observe(ctx, nil, poll.Throttled(errors.New("busy"), wait))
			})}
			var s poll.State
			for range 5 {
				s, _ = p.Step(t.Context(), s)
				time.Sleep(time.Minute)
			}
			if attempts != 1 {
				t.Errorf("%v: %d attempts", wait, attempts)
			}
		})
	}
}
