package poll_test

import (
	"context"

	"testing"

	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// finishing is an operation whose result has to be looked for: each look takes a
// second and has the next of the answers, the last again and again.
type finishing struct {
	operation
	looks []status.Observation
}

func (f *finishing) Session() poll.Probe { return f }

func (f *finishing) Result(status.Observation) (func(context.Context) status.Observation, string) {
	look := func(ctx context.Context) status.Observation {
		if !sleep(ctx, time.Second) {
			return status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{Kind: status.FailureStopped, Reason: "stopped"}}
		}
		o := f.looks[0]
		if len(f.looks) > 1 {
			f.looks = f.looks[1:]
		}
		return o
	}
	return look, "get it"
}

// finishingAfter is done at its first attempt, or as often as a threshold asks.
func finishingAfter(looks ...status.Observation) *finishing {
	return &finishing{operation: operation{readyAt: 1}, looks: looks}
}

func TestLimitsAndTheResult(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		poller poll.Poller
		want   string
	}{
		"attempts": {
			poll.Poller{Probe: finishingAfter(answer(500)), MaxAttempts: 2},
			`
3s      end     attempts exhausted NOT_READY after 2: attempts made: 2 of 2; last: done, but its result could not be fetched: get it: HTTP 500 Internal Server Error
`},
		"deadline": {
			poll.Poller{Probe: finishingAfter(answer(500)), Timeout: 2500 * time.Millisecond},
			`
2.5s    end     timed out NOT_READY after 3: timed out after 2.5s; last: done, but its result could not be fetched: get it: HTTP 500 Internal Server Error
`},
		"deadline during the first look": {
			poll.Poller{Probe: finishingAfter(answer(200)), Timeout: 500 * time.Millisecond},
			`
500ms   end     timed out NOT_READY after 1: timed out after 500ms; last: done, but its result could not be fetched: get it
`},
		"hint": {
			poll.Poller{Probe: finishingAfter(hinted(429, time.Minute)), Timeout: 30 * time.Second},
			`
1s      end     throttled past the deadline THROTTLED after 1: done, but its result could not be fetched: get it: HTTP 429 Too Many Requests, Retry-After asks for 1m, and 29s are left before the deadline
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.poller.Immediate, test.poller.Schedule = true, backoff.Fixed(time.Second)
			wantTimeline(t, only(poll.EventEnd, timeline(t, test.poller)), test.want)
		})
	}
}
