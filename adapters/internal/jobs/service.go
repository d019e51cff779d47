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

// A Service is an HTTP transport that returns the responses in Answers, one for each request. An answer is a status
// code, optionally followed by a blank and the value of Retry-After. Once all answers are used up, the Service
// repeats the last answer.
type Service struct {
	Answers  []string
	Takes    time.Duration // how long each response takes
	Asked    func()        // called before each response; may be nil
	Requests int           // the number of requests so far
	Starts   int           // the number of POST requests so far
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

// Poller returns a wait for a job of the service. Its requests use the given HTTP method.
func (s *Service) Poller(method string) poll.Poller {
	return poll.Poller{
		Probe:    poll.HTTP{URL: "https://api.example.com/jobs", Method: method, Transport: s},
		Schedule: backoff.Fixed(30 * time.Second), Target: "job", Rand: rand.New(half{}),
	}
}

// half is a source of random numbers that makes poll extend each wait that a server requires by 5%, half of the
// maximum extension.
type half struct{}

func (half) Uint64() uint64 { return 1 << 63 >> 11 & (1<<53 - 1) }
