package poll_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

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

// An attempt waits for a page that is refused, also behind a redirect to another host: it would else never come further.
func TestPageIsRefusedBehindARedirect(t *testing.T) {
	for name, next := range map[string]string{"pages there": "/2", "pages here": "http://a/2"} {
		synctest.Test(t, func(t *testing.T) {
			asked := map[string]int{}
			transport := roundTrip(func(r *http.Request) *http.Response {
				at := r.URL.Host + r.URL.Path
				asked[at]++
				code, header := 200, http.Header{"Link": {"<" + next + `>; rel="next"`}}
				switch {
				case r.URL.Host == "a":
					code, header = 302, http.Header{"Location": {"http://b" + r.URL.Path}}
				case at == "b/2" && asked[at] == 1:
					code, header = 429, http.Header{"Retry-After": {"20"}}
				case at == "b/2":
					header = http.Header{}
				}
				return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(`[]`))}
			})
			p := poll.Poller{Probe: poll.HTTP{URL: "http://a/1", Next: "auto", Transport: transport}, Limiter: &poll.Pacer{}, MaxAttempts: 1}
			if o, err := p.Run(t.Context()); err != nil || asked["b/2"] != 2 {
				t.Errorf("%s: %v, %v, requests %v", name, err, o.Reason, asked)
			}
		})
	}
}
