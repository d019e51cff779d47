package poll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

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
	hint := &status.Hint{Wait: time.Minute, Source: "Retry-After"}
	for name, test := range map[string]struct {
		change func(s *poll.State, now time.Time)
		want   string
	}{
		"none was planned":           {func(*poll.State, time.Time) {}, "15s #4"},
		"it is over":                 {func(s *poll.State, now time.Time) { s.Last = now.Add(-time.Hour) }, "0s #4"},
		"it was planned":             {func(s *poll.State, now time.Time) { s.Due = now.Add(7 * time.Second) }, "7s #4"},
		"planned too far ahead":      {func(s *poll.State, now time.Time) { s.Hint, s.Due = hint, now.Add(time.Hour) }, "1m6s #4"},
		"too far ahead by a limiter": {func(s *poll.State, now time.Time) { s.Due, s.Reserved = now.Add(time.Hour), true }, "20s #4"},
		"it was due":                 {func(s *poll.State, now time.Time) { s.Due = now.Add(-7 * time.Second) }, "0s #4"},
		"a hint":                     {func(s *poll.State, now time.Time) { s.Hint = hint }, "57.75s #4"}, // and 5% of the rest
		"a hint that is over": {func(s *poll.State, now time.Time) {
			s.Hint, s.Last = hint, now.Add(-time.Hour)
		}, "0s #4"},
		"throttled":             {func(s *poll.State, now time.Time) { s.Status = status.Throttled }, "35s #4"},
		"throttled again":       {func(s *poll.State, now time.Time) { s.Status, s.Refusals = status.Throttled, 2 }, "1m15s #4"},
		"throttled before":      {func(s *poll.State, now time.Time) { s.Refusals = 1 }, "35s #4"},
		"throttled with a hint": {func(s *poll.State, now time.Time) { s.Status, s.Hint = status.Throttled, hint }, "57.75s #4"},
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
		`{"v":3,"attempts":-1}`:         "make no sense",
		`{"v":3,"attempts":1,"sent":2}`: "make no sense",

		`{"v":3,"attempts":9223372036854775807}`: "make no sense",
		`{"v":3,"previous_ns":-1}`:               "make no sense",
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
