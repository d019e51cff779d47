package poll_test

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// A run that ends with an attempt hands its response on: a copy in a cache confirms nothing in the next run.
func TestACopyConfirmsNothingInTheNextRun(t *testing.T) {
	for _, test := range []struct {
		name      string
		elements  *poll.Elements
		threshold int
		fresh     int // responses that the next run needs
	}{
		{"one", nil, 3, 2}, {"list", &poll.Elements{Expect: 1}, 3, 2}, {"list of unknown length", &poll.Elements{}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, requests := time.Now(), 0
				transport := roundTripper(func(r *http.Request) (*http.Response, error) {
					header := make(http.Header)
					switch requests++; {
					case requests == 1:
						time.Sleep(980 * time.Millisecond) // no time is left for another attempt
					case !slices.Contains(r.Header["Cache-Control"], "no-cache"):
						t.Errorf("a cache may answer request %d", requests)
					case requests < 5:
						header.Set("Age", strconv.Itoa(int(time.Since(began)/time.Second)))
					}
					body := `{"state":"done","jobs":[{"id":"a","state":"done"}]}`
					return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
				})
				p := ofJobs(t, poll.Elements{Resumed: true})
				if p.Probe = (poll.HTTP{URL: "http://a.example.com/", Transport: transport}); test.elements == nil {
					p.Elements = nil
				} else {
					p.Elements.Expect, p.Elements.Past = test.elements.Expect, make(map[string]poll.State)
				}
				p.SuccessThreshold = poll.Threshold{Times: test.threshold}
				var summary poll.Summary
				for _, timeout := range []time.Duration{time.Second, time.Minute} {
					for e := range (&poll.Group{Timeout: timeout}).Events(t.Context(), slices.Values([]poll.Poller{p})) {
						switch {
						case e.Summary != nil:
							summary = *e.Summary
						case e.N > 0 && p.Elements != nil:
							p.Elements.Past[e.Target] = reread(t, e.State)
						default:
							p.Past = new(reread(t, e.State))
						}
					}
				}
				if summary.Err() != nil || requests != 4+test.fresh {
					t.Errorf("%v after %d requests", summary.Err(), requests)
				}
			})
		})
	}
}
