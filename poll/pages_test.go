package poll_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

// A page that is always refused ends the attempt.
func TestPageIsAlwaysRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := 0
		transport := roundTrip(func(r *http.Request) *http.Response {
			if r.URL.Path == "/jobs" {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"next":"/2"}`))}
			}
			asked++
			return &http.Response{StatusCode: 429, Header: http.Header{}, Body: http.NoBody}
		})
		p := poll.Poller{
			Probe: poll.HTTP{URL: "http://h/jobs", Next: ".next", Transport: transport}, Limiter: &poll.Pacer{}, MaxAttempts: 1,
		}
		if p.Run(t.Context()); asked != 10 {
			t.Errorf("asked %d times", asked)
		}
	})
}
