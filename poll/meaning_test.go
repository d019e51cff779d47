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
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// The verdict without a condition is about the document that a function made of the response.
func TestADocumentThatAFunctionDecodes(t *testing.T) {
	for sent, want := range map[string]string{
		`{"state":"failed","inner":{"state":"done"}}`: `NOT_READY: .state is "running" | SUCCESS: .state is "done"`,
		`{"state":"done","inner":{"state":"failed"}}`: `NOT_READY: .state is "running" | ERROR: .state is "failed"`,
		`{"inner":{"state":"done","error":"cut"}}`:    `NOT_READY: .state is "running" | ERROR: .state is "done": cut`,
	} {
		synctest.Test(t, func(t *testing.T) {
			bodies := []string{"", `{"state":"done","inner":{"state":"running"}}`, sent}
			transport := roundTripper(func(r *http.Request) (*http.Response, error) {
				code, header := http.StatusOK, http.Header{"Location": {"/jobs/1"}}
				if r.Method == "POST" {
					code = http.StatusAccepted
				}
				body := io.NopCloser(strings.NewReader(bodies[0]))
				bodies = bodies[1:]
				return &http.Response{StatusCode: code, Header: header, Body: body, Request: r}, nil
			})
			decode := func(ctx context.Context, a poll.Attempt, next func(context.Context, poll.Attempt) status.Observation) status.Observation {
				var outer struct{ Inner json.RawMessage }
				json.Unmarshal(next(ctx, a).Body, &outer)
				return poll.Observe(ctx, outer.Inner, nil)
			}
			start := poll.HTTP{URL: "http://api.example.com/jobs", Method: "POST", Transport: transport}
			p := poll.Poller{Probe: poll.Wrap(start, decode), Schedule: backoff.Fixed(time.Second)}
			var verdicts []string
			for e := range p.Events(t.Context()) {
				if e.Kind == poll.EventAttempt && e.State.Attempts > 1 {
					reason, _, _ := strings.Cut(e.Verdict.Reason, ", which is not a known")
					verdicts = append(verdicts, string(e.Verdict.Status)+": "+reason)
				}
			}
			if have := strings.Join(verdicts, " | "); have != want {
				t.Errorf("%s:\nhave %s\nwant %s", sent, have, want)
			}
		})
	}
}

// An observation that a function makes by hand is evaluated like an observation of poll's own probes: an error
// is not a SUCCESS.
func TestAResponseMadeByHand(t *testing.T) {
	const done = `{"state":"done"}`
	for name, test := range map[string]struct {
		o       status.Observation
		want    string // without a condition
		ifDone  status.Status
		ifCoded status.Status // with a condition that reads $status or $exit
	}{
		"200":                {status.Observation{Kind: status.KindHTTP, Code: new(200)}, "SUCCESS: HTTP 200 OK", status.Success, status.Success},
		"200 of no kind":     {status.Observation{Code: new(200)}, "SUCCESS: HTTP 200 OK", status.Success, status.Success},
		"202":                {status.Observation{Kind: status.KindHTTP, Code: new(202)}, "NOT_READY: HTTP 202 Accepted", status.Success, status.Success},
		"404":                {status.Observation{Kind: status.KindHTTP, Code: new(404)}, "ERROR: HTTP 404 Not Found", status.Error, status.Success},
		"500":                {status.Observation{Kind: status.KindHTTP, Code: new(500)}, "NOT_READY: HTTP 500 Internal Server Error", status.NotReady, status.Success},
		"500 of no kind":     {status.Observation{Code: new(500)}, "NOT_READY: HTTP 500 Internal Server Error", status.NotReady, status.Success},
		"429 of a command":   {status.Observation{Kind: status.KindCommand, Code: new(429)}, "THROTTLED: HTTP 429 Too Many Requests", status.Throttled, status.Success},
		"no code":            {status.Observation{Kind: status.KindHTTP}, "NOT_READY: the probe reports no failure", status.NotReady, status.NotReady},
		"exit 0":             {status.Observation{Kind: status.KindCommand, Exit: new(0)}, "SUCCESS: exit code 0", status.Success, status.Success},
		"exit 1":             {status.Observation{Kind: status.KindCommand, Exit: new(1)}, "NOT_READY: exit code 1: " + done, status.NotReady, status.Success},
		"exit 1 of no kind":  {status.Observation{Exit: new(1)}, "NOT_READY: exit code 1: " + done, status.NotReady, status.Success},
		"exit 127":           {status.Observation{Exit: new(127)}, "ERROR: exit code 127 (command not found): " + done, status.Error, status.Success},
		"no exit code":       {status.Observation{Kind: status.KindCommand}, "NOT_READY: the probe reports no failure", status.NotReady, status.NotReady},
		"a connection":       {status.Observation{Kind: status.KindTCP}, "SUCCESS: connected", status.Success, status.NotReady},
		"nothing":            {status.Observation{}, "SUCCESS: the probe reports no failure", status.Success, status.NotReady},
		"a failure and 200":  {status.Observation{Code: new(200), Failure: &status.Failure{Reason: "cut"}}, "NOT_READY: cut", status.NotReady, status.Success},
		"a failure":          {status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{Reason: "cut"}}, "NOT_READY: cut", status.NotReady, status.NotReady},
		"a hopeless failure": {status.Observation{Failure: &status.Failure{Kind: status.FailureHopeless, Reason: "lost"}}, "ERROR: lost", status.Error, status.Error},
	} {
		test.o.Body = []byte(done)
		verdict := func(rules ...status.Rule) status.Verdict {
			p := poll.Poller{MaxAttempts: 1, Immediate: true, Rules: status.Rules{Own: rules}}
			p.Probe = poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation { return test.o })
			o, err := p.Run(t.Context())
			if err != nil && !errors.Is(err, poll.AttemptsExhausted) && !errors.Is(err, poll.Failed) && !errors.Is(err, poll.CannotRun) {
				t.Errorf("%s: %v", name, err)
			}
			return o.Verdict
		}
		if v := verdict(); string(v.Status)+": "+v.Reason != test.want {
			t.Errorf("%s: have %s: %s, want %s", name, v.Status, v.Reason, test.want)
		}
		if v := verdict(rule(t, status.Success, `.state == "done"`)); v.Status != test.ifDone {
			t.Errorf("%s with a condition: have %s: %s, want %s", name, v.Status, v.Reason, test.ifDone)
		}
		if v := verdict(rule(t, status.Success, `$status > 0 or $exit >= 0`)); v.Status != test.ifCoded {
			t.Errorf("%s with a condition about its code: have %s: %s, want %s", name, v.Status, v.Reason, test.ifCoded)
		}
	}
}

// A rule that is only about the given URL decides nothing about another page, or about another URL that is followed.
func TestARuleThatIsOnlyAboutTheGivenURL(t *testing.T) {
	gone := rule(t, status.Success, `$status in [404, 410]`)
	gone.Here = true
	anywhere := rule(t, status.Success, `$status in [404, 410]`)
	for _, test := range []struct {
		method, follow string
		rule           status.Rule
		answers        string // code and Location of each response
		want           string // of the last attempt
	}{
		{"GET", "", gone, "404", "SUCCESS: $status is 404"},
		{"GET ?for=7", "", gone, "302 ?for=login; 404", "NOT_READY: it redirects to another page, /a with another query"},
		{"GET ?for=7", "", gone, "302 /a/?for=7; 404", "SUCCESS: $status is 404, after a redirect to /a/"},
		{"GET ?for=7", "", gone, "302 ?for=7&lang=en; 404", "SUCCESS: $status is 404, after a redirect to /a"},
		{"DELETE ?for=7", "self", gone, "307 ?for=login; 404; 200; 410", "SUCCESS: $status is 410"},
		{"DELETE ?for=7", "none", gone, "307 ?for=login; 404", "NOT_READY: it redirects to another page, /a with another query"},
		{"GET", "", gone, "200", "NOT_READY: it is still there: HTTP 200"},
		{"GET", "", gone, "301 /a/; 404", "SUCCESS: $status is 404, after a redirect to /a/"},
		{"GET", "", gone, "302 /login; 404", "NOT_READY: it redirects to another page, /login"},
		{"GET", "", gone, "302 /login; 200", "NOT_READY: it redirects to another page, /login"},
		{"GET", "", gone, "302 /login; 500", "NOT_READY: it redirects to another page, /login"},
		{"GET", "", gone, "302 /login; 429", "THROTTLED: HTTP 429 Too Many Requests after a redirect to /login"},
		{"GET", "", anywhere, "302 /login; 404", "NOT_READY: $status is 404, which is not about the given URL, after a redirect to /login"},
		{"DELETE", "self", gone, "202 /op; 200; 410", "SUCCESS: $status is 410"},
		{"DELETE", "auto", gone, "202 /op; 404", "NOT_READY: HTTP 404 Not Found, and the URL may not exist yet"},
		{"DELETE", "auto", gone, "202 /op; 200", "NOT_READY: HTTP 200 OK"},
		{"DELETE", "self", gone, "302 /login; 404; 200; 410", "SUCCESS: $status is 410"},
		{"DELETE", "self", gone, "303 /login; 200; 410", "SUCCESS: $status is 410"},
		{"DELETE", "self", gone, "204; 404", "SUCCESS: $status is 404"},
		{"DELETE", "self", gone, "404", "SUCCESS: $status is 404"},
		{"DELETE", "none", gone, "307 /login; 404", "NOT_READY: it redirects to another page, /login"},
		{"DELETE", "none", anywhere, "307 /login; 404", "NOT_READY: $status is 404, which is not about the given URL, after a redirect to /login"},
	} {
		synctest.Test(t, func(t *testing.T) {
			answers := strings.Split(test.answers, "; ")
			transport := roundTripper(func(r *http.Request) (*http.Response, error) {
				code, location, _ := strings.Cut(answers[0], " ")
				answers = answers[1:]
				header := http.Header{}
				if location != "" {
					header.Set("Location", location)
				}
				number, _ := strconv.Atoi(code)
				return &http.Response{StatusCode: number, Header: header, Body: http.NoBody, Request: r}, nil
			})
			method, query, _ := strings.Cut(test.method, " ")
			probe := poll.HTTP{URL: "http://api.example.com/a" + query, Method: method, Follow: test.follow, Transport: transport}
			p := poll.Poller{Probe: probe, Schedule: backoff.Fixed(time.Second), Rules: status.Rules{Own: []status.Rule{test.rule}}}
			var have string
			for e := range p.Events(t.Context()) {
				if e.Kind == poll.EventAttempt {
					have = string(e.Verdict.Status) + ": " + e.Verdict.Reason
				}
				if len(answers) == 0 {
					break
				}
			}
			if have != test.want {
				t.Errorf("%s %s, %s:\nhave %s\nwant %s", test.method, test.follow, test.answers, have, test.want)
			}
		})
	}
}

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
						if i == 4 && (o.Ending != poll.ThrottledTooLong || !strings.Contains(o.Reason, "http://b.example.com:80 is closed for ")) {
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
func TestGroup_originStaysClosedAfterHTTP429(t *testing.T) {
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
		g := poll.Group{Timeout: time.Minute, Limiter: &poll.Pacer{PerSecond: 10, Rand: rand.New(still{})}, ParallelOrigin: func(string) int { return 2 }}
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
