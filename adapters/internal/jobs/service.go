package jobs

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// A Service is a transport that returns the responses in Answers, one for each request. An answer is a status code,
// optionally with a blank and the value of Retry-After. The last answer is repeated.
type Service struct {
	Answers  []string
	Takes    time.Duration // time that each response takes
	Asked    func()        // called before each response; may be nil
	Requests int           // number of requests
	Starts   int           // number of POST requests
}

// RoundTrip implements [http.RoundTripper].
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"state":"done"}`)), Request: r}
	var after string
	fmt.Sscan(s.Answers[min(s.Requests, len(s.Answers)-1)], &answer.StatusCode, &after)
	s.Requests++
	if after != "" {
		answer.Header.Set("Retry-After", after)
	}
	if r.Method == http.MethodPost {
		s.Starts++
		answer.Header.Set("Location", "/jobs/1")
	}
	if s.Asked != nil {
		s.Asked()
	}
	time.Sleep(s.Takes)
	return answer, nil
}

// Poller returns a wait for a job of the service. Its requests use method.
func (s *Service) Poller(method string) poll.Poller {
	return poll.Poller{
		Probe:    poll.HTTP{URL: "https://api.example.com/jobs", Method: method, Transport: s},
		Schedule: backoff.Fixed(30 * time.Second), Target: "job", Rand: rand.New(half{}),
	}
}

// half is a random source. It makes poll lengthen each requested wait by 5%, half of the maximum.
type half struct{}

func (half) Uint64() uint64 { return 1 << 63 >> 11 & (1<<53 - 1) }
