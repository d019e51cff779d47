package poll_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// Each look at the result of an operation waits for the Limiter.
func TestLooksAtAResultAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var sent []time.Time
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, time.Now())
			code, header, text := 503, make(http.Header), `{"status": "Succeeded"}`
			switch {
			case r.Method == "PUT":
				code = 201
				header.Set("Azure-AsyncOperation", "https://api.example.com/operations/1")
			case strings.HasSuffix(r.URL.Path, "/operations/1"), len(sent) > 5:
				code = 200
			}
			return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		})
		p := poll.Poller{
			Probe:   poll.HTTP{URL: "https://api.example.com/resources/1", Method: "PUT", Transport: transport},
			Limiter: &poll.Pacer{PerSecond: 2, Known: true}, Schedule: backoff.Fixed(time.Millisecond),
		}
		if o, err := p.Run(t.Context()); err != nil || len(sent) != 6 {
			t.Fatalf("%v after %d requests: %+v", err, len(sent), o)
		}
		for i, at := range sent[1:] {
			if gap := at.Sub(sent[i]); gap < 500*time.Millisecond {
				t.Errorf("request %d came %s after the one before", i+2, gap)
			}
		}
	})
}

// $elapsed of an element counts from the begin of its list, in a later run, too.
func TestElapsedOfAListThatGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := ofJobs(t, poll.Elements{Known: []string{"a", "a"}}, "a=run", "a=done")
		rule, err := status.NewRule(status.Error, "$elapsed > 90m")
		if err != nil {
			t.Fatal(err)
		}
		p.Rules.Own = append(p.Rules.Own, rule)
		p.Past, p.Schedule = &poll.State{Start: time.Now().Add(-time.Hour), Attempts: 1}, backoff.Fixed(time.Second)
		p.Elements.Past = map[string]poll.State{"a": *p.Past}
		outcomes, err := (&poll.Group{}).Run(t.Context(), slices.Values([]poll.Poller{p}))
		if err != nil || len(outcomes) != 1 {
			t.Errorf("%v: %+v", err, outcomes)
		}
	})
}
