package poll_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// untilDeadline runs p in a bubble, with a context that has a deadline, and writes a line
// for each event.
func untilDeadline(t *testing.T, after time.Duration, p poll.Poller) (events string, o poll.Outcome, deadline time.Duration) {
	t.Helper()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		began := time.Now()
		for e := range p.Events(ctx) {
			fmt.Fprintln(&b, line(e))
			if deadline = e.Deadline.Sub(began); e.Kind == poll.EventEnd {
				o = *e.Outcome
			}
		}
	})
	return b.String(), o, deadline
}

func TestTheDeadlineOfTheContextIsPlannedFor(t *testing.T) {
	for name, test := range map[string]struct {
		context, deadline time.Duration
		want              string
	}{
		"alone": {context: 10 * time.Second, deadline: 10 * time.Second, want: `
0s      wait    #1 7s
7s      wait    #2 2.95s last look
9.95s   wait    #3 25ms last look
9.975s  end     timed out NOT_READY after 3: timed out after 10s; last: HTTP 202 Accepted
`},
		"over": {context: -time.Second, deadline: -time.Second, want: `
0s      wait    #1 0s last look
0s      end     timed out  after 0: timed out after 0s
`},
	} {
		t.Run(name, func(t *testing.T) {
			p := poll.Poller{Probe: &operation{}, Schedule: backoff.Fixed(7 * time.Second)}
			events, o, deadline := untilDeadline(t, test.context, p)
			wantTimeline(t, only(poll.EventWait, events)+only(poll.EventEnd, events), test.want)
			if err := o.Err(); !errors.Is(err, poll.TimedOut) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, poll.Interrupted) {
				t.Errorf("have %v, want TimedOut and DeadlineExceeded", err)
			}
			if deadline != test.deadline {
				t.Errorf("the events name a deadline after %s, want %s", deadline, test.deadline)
			}
		})
	}
}

func TestOnlyATimeoutIsDeadlineExceeded(t *testing.T) {
	for _, ending := range allEndings {
		if have, want := errors.Is(ending, context.DeadlineExceeded), ending == poll.TimedOut; have != want {
			t.Errorf("%s: have %v, want %v", ending, have, want)
		}
	}
}

// The time that is reserved for the last attempt depends on whole responses: a refusal and a failed connection take less time.
func TestARefusalIsNoMeasure(t *testing.T) {
	for name, quick := range map[string]error{
		"a refusal":           poll.Throttled(errors.New("busy"), time.Second),
		"a failed connection": errors.New("connection refused"),
	} {
		t.Run(name, func(t *testing.T) {
			attempt := 0
			probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				if attempt++; attempt == 2 || attempt == 3 || attempt == 4 {
					return poll.Observe(ctx, nil, quick)
				}
				select {
				case <-time.After(3 * time.Second):
					return poll.Observe(ctx, []byte(fmt.Sprintf(`{"done":%t}`, attempt > 4)), nil)
				case <-ctx.Done():
					return poll.Observe(ctx, nil, ctx.Err())
				}
			})
			p := poll.Poller{Probe: probe, Rules: conditions(t, ".done"), Schedule: backoff.Fixed(9 * time.Second)}
			if _, o, _ := untilDeadline(t, 47*time.Second, p); o.Ending != poll.Succeeded {
				t.Errorf("%s after %d attempts: %s", o.Ending, attempt, o.Reason)
			}
		})
	}
}
