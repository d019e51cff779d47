package poll_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// bubble runs a test with virtual time, parallel to other tests.
func bubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// timeline runs p in a bubble, and returns a line for each event with its time.
func timeline(t *testing.T, p poll.Poller) string {
	t.Helper()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		for e := range p.Events(t.Context()) {
			fmt.Fprintln(&b, line(e))
		}
	})
	return b.String()
}

func line(e poll.Event) string {
	at := fmt.Sprintf("%-7s %-7s", e.Elapsed.Round(time.Microsecond), e.Kind)
	switch e.Kind {
	case poll.EventWait:
		at += fmt.Sprintf(" #%d %s", attemptOf(e), e.Wait)
		if e.State.Hint != nil {
			at += " hint " + e.State.Hint.Wait.String()
		}
		if e.State.LastLook {
			at += " last look"
		}
	case poll.EventStart:
		at += fmt.Sprintf(" #%d", attemptOf(e))
	case poll.EventAttempt:
		at += fmt.Sprintf(" #%d %s in %s: %s", attemptOf(e), e.Verdict.Status, e.Took, e.Verdict.Reason)
	case poll.EventEnd:
		at += fmt.Sprintf(" %s %s after %d: %s", e.Outcome.Ending, e.Outcome.Status, attemptOf(e), e.Outcome.Reason)
	}
	return at
}

// only returns the lines of one kind of event.
func only(kind poll.EventKind, timeline string) string {
	var b strings.Builder
	for l := range strings.Lines(timeline) {
		if strings.Contains(l[:16], " "+string(kind)) {
			b.WriteString(l)
		}
	}
	return b.String()
}

func wantTimeline(t *testing.T, have, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), have); diff != "" {
		t.Errorf("timeline (-want +have):\n%s", diff)
	}
}

// operation is a fake whose response depends on the time. Its zero value is never done, and responds at once.
type operation struct {
	takes   time.Duration // how long each attempt takes
	readyAt time.Duration // when it is done; 0 = never
	slow    map[int]time.Duration
	answers map[int]status.Observation // instead of the usual answer, by attempt
}

func (op operation) Plan() poll.Plan { return poll.Plan{} }

func (op operation) Check(ctx context.Context, a poll.Attempt) poll.Report {
	return poll.Report{Observation: op.observe(ctx, a)}
}

func (op operation) observe(ctx context.Context, a poll.Attempt) status.Observation {
	ready := op.readyAt > 0 && a.Elapsed >= op.readyAt
	takes := op.takes
	if slow, ok := op.slow[a.Number]; ok {
		takes = slow
	}
	if !sleep(ctx, takes) {
		if context.Cause(ctx) == poll.ErrAttemptTimeout {
			return status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{
				Kind: status.FailureTransient, Reason: "attempt timed out", Err: poll.ErrAttemptTimeout,
			}}
		}
		return status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{
			Kind: status.FailureStopped, Reason: "stopped",
		}}
	}
	if o, ok := op.answers[a.Number]; ok {
		return o
	}
	if ready {
		return answer(200)
	}
	return answer(202)
}

// starting is an operation whose attempts start it until an attempt has a response that is not among the
// refusals.
type starting struct {
	operation
	refusals map[int]status.Observation
	started  bool
}

func (s starting) Plan() poll.Plan { return poll.Plan{Once: !s.started} }

func (s starting) Check(ctx context.Context, a poll.Attempt) poll.Report {
	if s.started {
		return s.operation.Check(ctx, a)
	}
	o, refused := s.refusals[a.Number]
	if !refused {
		o = s.operation.observe(ctx, a)
	}
	if s.started, o.Start = !refused, true; s.started {
		o.Next = "https://test/operation"
	}
	return poll.Report{Observation: o, Next: s}
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func answer(code int) status.Observation {
	return status.Observation{Kind: status.KindHTTP, Code: &code}
}

func hinted(code int, wait time.Duration) status.Observation {
	o := answer(code)
	o.Hint = &status.Hint{Wait: wait, Source: "Retry-After"}
	return o
}

// allEndings has all endings in the order of the counts.
var allEndings = []poll.Ending{
	poll.Succeeded, poll.Failed, poll.CannotRun, poll.HintTooLong, poll.AttemptsExhausted, poll.TimedOut, poll.Interrupted, poll.Cancelled,
}

// attemptOf returns the number of the attempt that is next, starts or has ended.
func attemptOf(e poll.Event) int {
	if e.Kind == poll.EventWait {
		return e.State.Attempts + 1
	}
	return e.State.Attempts
}
