package poll_test

import (
	"context"
	"errors"
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
	rule, err := status.NewRule(status.Success, `all(.[]; . != "failed" and . != "canceled")`)
	if err != nil {
		t.Fatal(err)
	}
	failed, err := status.NewRule(status.Error, `any(.[]; . == "failed")`)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	for _, test := range []struct {
		name      string
		elements  int
		interrupt bool
		want      string
	}{
		{"short, deadline", 10, false, "succeeded SUCCESS"},
		{"short, interrupted", 10, true, "succeeded SUCCESS"},
		{"long, deadline", 300_000, false, "timed out NOT_READY"},
		{"long, interrupted", 300_000, true, "interrupted NOT_READY"},
	} {
		body := []byte("[" + strings.Repeat(`"ok",`, test.elements) + `"ok"]`)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				if test.interrupt {
					cancel(gone)
				} else {
					time.Sleep(2 * time.Second)
				}
				return status.Observation{Kind: status.HTTP, Code: new(200), Body: body}
			})
			p := poll.Poller{Probe: probe, Timeout: time.Second, Rules: status.Rules{Own: []status.Rule{failed, rule}}}
			for e := range p.Events(ctx) {
				if e.Kind != poll.EndEvent {
					continue
				}
				if have := e.Outcome.Ending.String() + " " + e.Outcome.Status.String(); have != test.want {
					t.Errorf("%s: %s (%s), want %s", test.name, have, e.Outcome.Reason, test.want)
				}
			}
		})
	}
}
