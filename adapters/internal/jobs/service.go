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

// A Service is a transport that answers with one of Answers after the other: a status code,
// and what follows it in Retry-After. The last one stays.
type Service struct {
	Answers  []string
	Takes    time.Duration // each answer
	Asked    func()        // before each answer, if it is not nil
	Requests int
	Starts   int // requests by POST
}

// RoundTrip answers a request.
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

// Poller returns a wait for a job of the service.
func (s *Service) Poller(method string) poll.Poller {
	return poll.Poller{
		Probe:    poll.HTTP{URL: "https://api.example.com/jobs", Method: method, Transport: s},
		Schedule: backoff.Fixed(30 * time.Second), Target: "job", Rand: rand.New(half{}),
	}
}

// half makes hints 5% longer.
type half struct{}

func (half) Uint64() uint64 { return 1 << 63 >> 11 & (1<<53 - 1) }
