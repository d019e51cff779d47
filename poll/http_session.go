package poll

import (
	"context"

	"github.com/pollcli/poll/status"
)

// An httpSession is an HTTP probe in one run.
type httpSession struct {
	probe  HTTP
	broken error // why no request can be sent
	client *client
	given  place
}

func newHTTPSession(h HTTP) *httpSession {
	s := &httpSession{probe: h}
	if s.broken = h.Check(); s.broken != nil {
		return s
	}
	u, _ := parseURL(h.URL)
	s.given = place{url: u, trusted: true}
	s.client = newClient(h, s.given)
	return s
}

// Probe makes one attempt.
func (s *httpSession) Probe(ctx context.Context, a Attempt) status.Observation {
	if s.broken != nil {
		return status.Observation{
			Kind: status.HTTP, Attempt: a.Number, Elapsed: a.Elapsed,
			Failure: fail(status.Hopeless, s.broken.Error(), s.broken),
		}
	}
	got, lost := s.client.do(ctx, call{method: s.probe.method(), at: s.given, body: s.probe.Body})
	if lost != nil {
		return status.Observation{Kind: status.HTTP, Attempt: a.Number, Elapsed: a.Elapsed, Failure: lost.failure}
	}
	return s.observe(a, got)
}

// observe makes an observation of an answer.
func (s *httpSession) observe(a Attempt, got *answer) status.Observation {
	advice := readAdvice(got.code, got.header, got.body, got.received)
	return status.Observation{
		Kind:      status.HTTP,
		Attempt:   a.Number,
		Elapsed:   a.Elapsed,
		Body:      got.body,
		Size:      got.size,
		Truncated: got.truncated,
		Code:      &got.code,
		Header:    got.header,

		Hint:        advice.hint,
		Exhausted:   advice.exhausted,
		ShouldRetry: advice.shouldRetry,
		Remarks:     advice.remarks,
	}
}
