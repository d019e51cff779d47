package poll_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// TestTheEndComesWhileAnAnswerIsJudged gets a complete answer at the very end: it
// decides if that takes no time, and else the run is over.
func TestTheEndComesWhileAnAnswerIsJudged(t *testing.T) {
	t.Parallel()
	rules := conditions(t, `!any(.[]; . == "failed")`, `.# > 0`)
	gone := errors.New("gone")
	for _, test := range []struct {
		name      string
		elements  int
		interrupt bool
		want      string // and by which attempt's answer
	}{
		{"short, deadline", 10, false, "succeeded SUCCESS 2"},
		{"short, interrupted", 10, true, "succeeded SUCCESS 2"},
		{"long, deadline", 300_000, false, "timed out NOT_READY 1"},
		{"long, interrupted", 300_000, true, "interrupted NOT_READY 1"},
	} {
		body := []byte("[" + strings.Repeat(`"ok",`, test.elements) + `"ok"]`)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			probe := poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
				o := poll.Observe(ctx, body, nil)
				switch {
				case a.Number == 1:
					o.Body = []byte("[]")
				case test.interrupt:
					cancel(gone)
				default:
					time.Sleep(2 * time.Second)
				}
				return o
			})
			p := poll.Poller{Probe: probe, Timeout: time.Second, Rules: rules}
			for e := range p.Events(ctx) {
				if e.Kind != poll.EventEnd {
					continue
				}
				have := fmt.Sprint(e.Outcome.Ending, " ", e.Outcome.Status, " ", e.Outcome.Observation.Attempt)
				if have != test.want {
					t.Errorf("%s: %s (%s), want %s", test.name, have, e.Outcome.Reason, test.want)
				}
			}
		})
	}
}
