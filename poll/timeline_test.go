package poll_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// bubble runs a test with virtual time.
func bubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
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
		if e.State.RetryAfter != nil {
			at += " hint " + e.State.RetryAfter.Wait.String()
		}
		if e.State.LastAttempt {
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
	o.RetryAfter = &status.RetryAfter{Wait: wait, Source: "Retry-After"}
	return o
}

// allEndings has all endings in the order of the counts.
var allEndings = []poll.Ending{
	poll.Succeeded, poll.Failed, poll.CannotRun, poll.ThrottledTooLong, poll.AttemptsExhausted, poll.TimedOut, poll.Interrupted, poll.Cancelled,
}

// attemptOf returns the number of the attempt that is next, starts or has ended.
func attemptOf(e poll.Event) int {
	if e.Kind == poll.EventWait {
		return e.State.Attempts + 1
	}
	return e.State.Attempts
}

// saying returns a probe that responds with each text in turn, and repeats the last text. A "!" is a failure.
func saying(texts ...string) poll.Probe {
	return poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
		text := texts[min(a.Number, len(texts))-1]
		if text == "!" {
			return poll.Observe(ctx, nil, &status.Failure{Reason: "no answer"})
		}
		return poll.Observe(ctx, []byte(text), nil)
	})
}

// slowly answers as a probe does, after so long.
func slowly(takes time.Duration, p poll.Probe) poll.Probe {
	return poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
		sleep(ctx, takes)
		return p.Check(ctx, a).Observation
	})
}

// A wait for a verdict that has to hold ends once the verdict has held, in a run and by steps.
func TestSteady(t *testing.T) {
	for name, test := range map[string]struct {
		p    poll.Poller
		want string
	}{
		"it holds":             {poll.Poller{Probe: saying("1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{For: 3 * time.Second}}, "3s succeeded 4"},
		"it holds once more":   {poll.Poller{Probe: saying("1", "1", "0", "1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{For: 3 * time.Second}}, "6s succeeded 7"},
		"no answer is a break": {poll.Poller{Probe: saying("1", "1", "1", "!", "1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{For: 3 * time.Second}}, "7s succeeded 8"},
		"not long enough":      {poll.Poller{Probe: saying("0", "1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{For: time.Minute}, MaxAttempts: 5}, "4s attempts exhausted 5"},
		"as often, too":        {poll.Poller{Probe: saying("1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{Times: 5, For: time.Second}}, "4s succeeded 5"},
		"answers on their way": {poll.Poller{Probe: slowly(4*time.Second, saying("1")), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{For: 5 * time.Second}}, "14s succeeded 3"},
		"soon after throttling": {poll.Poller{
			Probe: operation{readyAt: time.Nanosecond, answers: map[int]status.Observation{1: answer(429), 2: answer(429)}},
			Rules: conditions(t, `$status == 200`), Throttled: backoff.Fixed(time.Second), SuccessThreshold: poll.Threshold{Times: 3},
		}, "5s succeeded 5"},
		"more than there is time": {poll.Poller{Probe: saying("1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{Times: 1 << 30}, Timeout: 3 * time.Second}, "2.975s timed out 5"},
		"it does not change":      {poll.Poller{Probe: saying("1", "2", "3"), Rules: conditions(t, `$unchanged >= 3s`)}, "5s succeeded 6"},
		"it changes back":         {poll.Poller{Probe: saying("1", "2", "1"), Rules: conditions(t, `$unchanged >= 2s`)}, "4s succeeded 5"},
		"without an answer":       {poll.Poller{Probe: saying("!", "!", "!", "!", "1"), Rules: conditions(t, `$unchanged > 1s and . == 1`)}, "6s succeeded 7"},
		"it cannot be asked":      {poll.Poller{Probe: saying("1", "!", "!", "!", "2"), Rules: conditions(t, `$unchanged >= 1s`)}, "5s succeeded 6"},
		"a break between equal":   {poll.Poller{Probe: saying("1", "!", "1"), Rules: conditions(t, `$unchanged >= 2s`)}, "2s succeeded 3"},
	} {
		p := test.p
		p.Schedule, p.Immediate = backoff.Fixed(time.Second), true
		synctest.Test(t, func(t *testing.T) {
			for e := range p.Events(t.Context()) {
				if e.Kind == poll.EventEnd {
					checkSteady(t, name, e, test.want)
				}
			}
		})
		synctest.Test(t, func(t *testing.T) { // the same by steps
			for e := range steps(t, &p, t.Context()) {
				if e.Kind == poll.EventEnd {
					checkSteady(t, name+", by steps", e, test.want)
				}
			}
		})
	}
}

// An ERROR that may pass ends a wait once it has held, in a run and by steps. Before that it is NOT_READY.
func TestSteadyError(t *testing.T) {
	for name, test := range map[string]struct {
		probe     poll.Probe
		threshold poll.Threshold
		every     time.Duration
		want      string
	}{
		"it lasts":               {saying("1"), poll.Threshold{For: 3 * time.Second}, time.Second, "3s failed ERROR NNNE"},
		"seen when it has":       {saying("1"), poll.Threshold{For: 3 * time.Second}, time.Minute, "3s failed ERROR NE"},
		"it heals":               {saying("1", "1", "1", "0"), poll.Threshold{For: 3 * time.Second}, time.Second, "3s succeeded SUCCESS NNNS"},
		"it heals, and fails":    {saying("1", "2", "1"), poll.Threshold{For: 3 * time.Second}, time.Second, "5s failed ERROR NNNNNE"},
		"no answer is a break":   {saying("1", "1", "1", "!", "1"), poll.Threshold{For: 3 * time.Second}, time.Second, "7s failed ERROR NNNNNNNE"},
		"answers on their way":   {slowly(4*time.Second, saying("1")), poll.Threshold{For: 5 * time.Second}, time.Second, "14s failed ERROR NNE"},
		"as often":               {saying("1"), poll.Threshold{Times: 3}, time.Second, "2s failed ERROR NNE"},
		"as often, and as long":  {saying("1"), poll.Threshold{Times: 3, For: time.Second}, time.Second, "2s failed ERROR NNE"},
		"not before the end":     {saying("1"), poll.Threshold{For: time.Minute}, 9 * time.Second, "20s timed out NOT_READY NNNNN"},
		"not as long as it asks": {saying("0"), poll.Threshold{For: time.Minute}, time.Second, "0s succeeded SUCCESS S"},
		"it cannot heal":         {broken{}, poll.Threshold{For: time.Minute, Times: 3}, time.Second, "0s failed ERROR E"},
	} {
		p := poll.Poller{Probe: test.probe, Rules: conditions(t, `. == 0`, `!. == 1`), ErrorThreshold: test.threshold,
			Schedule: backoff.Fixed(test.every), Immediate: true, Timeout: 20 * time.Second}
		check := func(how string, events iter.Seq[poll.Event]) {
			t.Helper()
			said := ""
			for e := range events {
				switch e.Kind {
				case poll.EventAttempt:
					said += string(e.Verdict.Status[:1])
				case poll.EventEnd:
					said = fmt.Sprint(e.Outcome.Elapsed.Round(time.Second), " ", e.Outcome.Ending, " ", e.Outcome.Status, " ", said)
					isTold := strings.Contains(fmt.Sprint(e.Outcome.Hints), "the last verdict was ERROR, for 20s of 1m")
					if said != test.want || isTold != (e.Outcome.Ending == poll.TimedOut) {
						t.Errorf("%s%s: have %s, want %s; hints %q", name, how, said, test.want, e.Outcome.Hints)
					}
				}
			}
		}
		synctest.Test(t, func(t *testing.T) { check("", p.Events(t.Context())) })
		synctest.Test(t, func(t *testing.T) { check(", by steps", steps(t, &p, t.Context())) })
	}
}

// A broken probe cannot work.
type broken struct{}

func (broken) Plan() poll.Plan { return poll.Plan{} }

func (broken) Check(ctx context.Context, _ poll.Attempt) poll.Report {
	return poll.Report{Observation: poll.Observe(ctx, nil, poll.Permanent(errors.New("broken")))}
}

// The time between two runs does not count as observed, unless a server has requested such a long wait.
func TestSteadyAfterAGap(t *testing.T) {
	for _, test := range []struct{ gap, planned, want time.Duration }{
		{2 * time.Second, time.Second, 0}, {10 * time.Second, time.Second, 3 * time.Second}, {10 * time.Second, 9 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			last := time.Now().Add(-test.gap)
			p := poll.Poller{Probe: saying("1"), Rules: conditions(t, `. == 1`), SuccessThreshold: poll.Threshold{For: 3 * time.Second}, Immediate: true, Schedule: backoff.Fixed(time.Second)}
			p.Past = &poll.State{Start: last.Add(-20 * time.Second), Began: last, Last: last, Since: last.Add(-20 * time.Second),
				Attempts: 3, Status: status.Success, Streak: 3, Due: last.Add(test.planned)}
			p.Past.Previous = time.Second
			began := time.Now()
			if o, _ := p.Run(t.Context()); o.Ending != poll.Succeeded || time.Since(began) != test.want {
				t.Errorf("%s unseen of %s planned: %s after %s, want %s", test.gap, test.planned, o.Ending, time.Since(began), test.want)
			}
		})
	}
}

func checkSteady(t *testing.T, name string, e poll.Event, want string) {
	t.Helper()
	if have := fmt.Sprint(e.Outcome.Elapsed, " ", e.Outcome.Ending, " ", e.Outcome.State.Attempts); have != want {
		t.Errorf("%s: have %s, want %s", name, have, want)
	}
	notes := fmt.Sprint(e.Outcome.Hints)
	if broken := e.Outcome.Ending == poll.AttemptsExhausted; strings.Contains(notes, "the last verdict was SUCCESS, for 3s of 1m") != broken {
		t.Errorf("%s: notes %q", name, notes)
	}
}
