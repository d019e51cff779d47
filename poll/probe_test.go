package poll_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pollcli/poll/poll"
)

// Check changes no probe: the configured probe starts the operation anew, and a probe at a position repeats its
// request, also from several goroutines. All of them share the connection.
func TestProbesAreValues(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	start := poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, strings.TrimSpace(r.Method+r.URL.Path+" "+r.Header.Get("Cookie")))
		header := http.Header{"Location": {"/jobs/1"}, "Set-Cookie": {"sid=1; Path=/"}}
		return &http.Response{StatusCode: 202, Header: header, Body: http.NoBody, Request: r}, nil
	})}
	first := start.Check(t.Context(), poll.Attempt{Number: 1})
	again := start.Check(t.Context(), poll.Attempt{Number: 1})
	if !start.Plan().Once || first.Next.Plan().Once || again.Next.Plan().Once || first.Next.Plan().Origin != "https://api.example.com:443" {
		t.Errorf("plans %+v, %+v", start.Plan(), first.Next.Plan())
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { first.Next.Check(t.Context(), poll.Attempt{Number: 2}) })
	}
	all.Wait()
	resumed, err := start.Resume(first.Position)
	if err != nil {
		t.Fatal(err)
	}
	resumed.Check(t.Context(), poll.Attempt{Number: 2})
	want := []string{"POST/jobs", "POST/jobs", "GET/jobs/1 sid=1", "GET/jobs/1 sid=1", "GET/jobs/1 sid=1", "GET/jobs/1 sid=1"}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// A position of another request, or of an unknown kind, is an error.
func TestPositionsThatMakeNoSense(t *testing.T) {
	start := poll.HTTP{URL: "https://api.example.com/jobs", Method: "POST"}
	for position, want := range map[string]string{
		`{"phase":"given"}`: "another request",
		`{"phase":"dance"}`: "another request, or unknown",
		`{}`:                "another request, or unknown",
		`{"phase":"follow","at":{"url":"https://api.example.com/jobs/1"},"monitor":200}`: "of an unknown kind, 200",
		`{"phase":"follow","at":{"url":"ftp://api.example.com/"}}`:                       "neither http nor https",
		`{"phase":"follow","at":{"url":":"}}`:                                            "cannot be read",
		`[]`:                                                                             "cannot be read",
	} {
		for name, p := range map[string]poll.Probe{"HTTP": start, "wrapped": poll.Wrap(start, nil)} {
			if _, err := p.Plan().Resume(json.RawMessage(position)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v, want %q", name, position, err, want)
			}
			state := poll.State{}
			if err := json.Unmarshal(fmt.Appendf(nil, `{"v":3,"attempts":1,"position":%s}`, position), &state); err != nil {
				t.Fatal(err)
			}
			if o, err := (&poll.Poller{Probe: p, Past: &state}).Run(t.Context()); err == nil || o.Ending != poll.Failed || !strings.Contains(o.Reason, want) {
				t.Errorf("%s, %s: %+v, %v", name, position, o.Reason, err)
			}
		}
	}
}
