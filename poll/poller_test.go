package poll_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func TestWaitsComeBeforeTheAttempts(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{Probe: &operation{readyAt: time.Second}})
	wantTimeline(t, have, `
0s      wait    #1 100ms
100ms   start   #1
100ms   attempt #1 NOT_READY in 0s: HTTP 202 Accepted
100ms   wait    #2 200ms
300ms   start   #2
300ms   attempt #2 NOT_READY in 0s: HTTP 202 Accepted
300ms   wait    #3 400ms
700ms   start   #3
700ms   attempt #3 NOT_READY in 0s: HTTP 202 Accepted
700ms   wait    #4 800ms
1.5s    start   #4
1.5s    attempt #4 SUCCESS in 0s: HTTP 200 OK
1.5s    end     succeeded SUCCESS after 4: HTTP 200 OK
`)
}

func TestTheDefaultScheduleIsCappedAt20s(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{Probe: &operation{}, MaxAttempts: 11})
	var last string
	for l := range strings.Lines(only(poll.EventWait, have)) {
		last = l
	}
	if want := "1m5.5s  wait    #11 20s\n"; last != want {
		t.Errorf("last wait: have %q, want %q", last, want)
	}
}

func TestTheTimeRunsFromTheStart(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		p := poll.Poller{Probe: &operation{}, Start: time.Now(), Timeout: 2 * time.Second}
		time.Sleep(1500 * time.Millisecond)
		for e := range p.Events(t.Context()) {
			fmt.Fprintln(&b, line(e))
		}
	})
	wantTimeline(t, b.String(), `
1.5s    wait    #1 100ms
1.6s    start   #1
1.6s    attempt #1 NOT_READY in 0s: HTTP 202 Accepted
1.6s    wait    #2 200ms
1.8s    start   #2
1.8s    attempt #2 NOT_READY in 0s: HTTP 202 Accepted
1.8s    wait    #3 150ms last look
1.95s   start   #3
1.95s   attempt #3 NOT_READY in 0s: HTTP 202 Accepted
1.95s   wait    #4 25ms last look
1.975s  start   #4
1.975s  attempt #4 NOT_READY in 0s: HTTP 202 Accepted
1.975s  end     timed out NOT_READY after 4: timed out after 2s; last: HTTP 202 Accepted
`)
}

func TestImmediateSkipsOnlyTheFirstWait(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{Probe: &operation{}, Immediate: true, MaxAttempts: 3})
	wantTimeline(t, only(poll.EventWait, have), `
0s      wait    #1 0s
0s      wait    #2 200ms
200ms   wait    #3 400ms
`)
}

func TestInitialDelayComesBeforeTheFirstWait(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{Probe: &operation{}, InitialDelay: time.Minute, MaxAttempts: 2})
	wantTimeline(t, only(poll.EventWait, have), `
0s      wait    #1 1m0.1s
1m0.1s  wait    #2 200ms
`)
}

func TestAWaitIsCountedFromTheEndOfTheAttempt(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe:       &operation{takes: 3 * time.Second},
		Schedule:    backoff.Fixed(time.Second),
		MaxAttempts: 2,
	})
	wantTimeline(t, have, `
0s      wait    #1 1s
1s      start   #1
4s      attempt #1 NOT_READY in 3s: HTTP 202 Accepted
4s      wait    #2 1s
5s      start   #2
8s      attempt #2 NOT_READY in 3s: HTTP 202 Accepted
8s      end     attempts exhausted NOT_READY after 2: attempts made: 2 of 2; last: HTTP 202 Accepted
`)
}

func TestASlowConsumerIsPartOfTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll.Poller{Probe: &operation{}, Schedule: backoff.Fixed(7 * time.Second), Timeout: 10 * time.Second}
		var have []time.Duration
		for e := range p.Events(t.Context()) {
			switch e.Kind {
			case poll.EventWait:
				time.Sleep(min(2*time.Second, e.Wait))
			case poll.EventStart:
				have = append(have, e.Elapsed)
			}
		}
		want := []time.Duration{7 * time.Second, 9950 * time.Millisecond, 9975 * time.Millisecond}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("starts (-want +got):\n%s", diff)
		}
	})
}

func TestAPollerWithoutAProbe(t *testing.T) {
	t.Parallel()
	outcome, err := (&poll.Poller{}).Run(t.Context())
	if !errors.Is(err, poll.Failed) || outcome.Reason != "there is no probe" {
		t.Errorf("have %+v, %v", outcome, err)
	}
}

func TestNoWaitingMakesExactlyMaxAttempts(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{Probe: &operation{}, Schedule: backoff.Fixed(0), MaxAttempts: 300, Timeout: time.Minute})
	if n := strings.Count(have, "start"); n != 300 {
		t.Errorf("attempts: have %d, want 300", n)
	}
	if !strings.Contains(have, "0s      end     attempts exhausted") {
		t.Errorf("time passed:\n%s", have[len(have)-200:])
	}
}

func TestTheLastLook(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe:    &operation{takes: 40 * time.Millisecond, readyAt: 9800 * time.Millisecond},
		Schedule: backoff.Fixed(7 * time.Second),
		Timeout:  10 * time.Second,
	})
	wantTimeline(t, have, `
0s      wait    #1 7s
7s      start   #1
7.04s   attempt #1 NOT_READY in 40ms: HTTP 202 Accepted
7.04s   wait    #2 2.88s last look
9.92s   start   #2
9.96s   attempt #2 SUCCESS in 40ms: HTTP 200 OK
9.96s   end     succeeded SUCCESS after 2: HTTP 200 OK
`)
}

// An operation that is done 200 ms before the deadline is seen by every probe
// that takes less than 100 ms, whatever the phase of the schedule.
func TestTheLastLookSeesWhatWasReady200msBefore(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	for takes := time.Duration(0); takes < 100*time.Millisecond; takes += 7 * time.Millisecond {
		for phase := time.Duration(1); phase < 400; phase += 3 {
			p := poll.Poller{
				Probe:    &operation{takes: takes, readyAt: timeout - 200*time.Millisecond},
				Schedule: backoff.Fixed(time.Second + phase*time.Millisecond),
				Timeout:  timeout,
			}
			if have := timeline(t, p); !strings.Contains(have, "end     succeeded") {
				t.Fatalf("takes %s, phase %d: not seen:\n%s", takes, phase, have)
			}
		}
	}
}

func TestOneSlowAttemptDoesNotEndTheRunEarly(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe: &operation{
			takes: 10 * time.Millisecond, slow: map[int]time.Duration{1: 8 * time.Second},
			readyAt: 19 * time.Second,
		},
		Schedule: backoff.Fixed(time.Second),
		Timeout:  20 * time.Second,
	})
	if !strings.Contains(have, "end     succeeded") {
		t.Error(have)
	}
}

func TestASlowProbeStillLooksSeveralTimes(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe:    &operation{takes: 2 * time.Second, slow: map[int]time.Duration{3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0}},
		Schedule: backoff.Fixed(3 * time.Second),
		Timeout:  10 * time.Second,
	})
	wantTimeline(t, only(poll.EventWait, have), `
0s      wait    #1 3s
5s      wait    #2 2.5s last look
9.5s    wait    #3 250ms last look
9.75s   wait    #4 125ms last look
9.875s  wait    #5 62.5ms last look
9.9375s wait    #6 31.25ms last look
`)
}

func TestAnAttemptMayRunUntilTheDeadline(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe:   &operation{takes: time.Hour},
		Timeout: 2 * time.Second,
	})
	wantTimeline(t, have, `
0s      wait    #1 100ms
100ms   start   #1
2s      attempt #1 NOT_READY in 1.9s: stopped
2s      end     timed out NOT_READY after 1: timed out after 2s; last: stopped
`)
}

// An attempt that was cut off says nothing of how long one takes.
func TestTheLastLookDoesNotReckonWithTimeouts(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe:          &operation{slow: map[int]time.Duration{1: time.Hour}, readyAt: 15 * time.Second},
		Schedule:       backoff.Fixed(14 * time.Second),
		AttemptTimeout: 4 * time.Second,
		Timeout:        20 * time.Second,
	})
	wantTimeline(t, only(poll.EventWait, have), `
0s      wait    #1 14s
18s     wait    #2 1s last look
`)
}

func TestWhatAnAttemptIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have []poll.Attempt
		p := poll.Poller{
			Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
				have = append(have, a)
				return poll.Observe(ctx, nil, poll.Throttled(errors.New("slowly"), 0))
			}),
			Schedule:  backoff.Fixed(2 * time.Second),
			Throttled: backoff.Fixed(7 * time.Second),
			Timeout:   5 * time.Second,
		}
		p.Run(t.Context())
		want := []poll.Attempt{
			{Number: 1, Elapsed: 2 * time.Second},
			{Number: 2, Elapsed: 4950 * time.Millisecond, Previous: status.Throttled, LastLook: true},
			{Number: 3, Elapsed: 4975 * time.Millisecond, Previous: status.Throttled, LastLook: true},
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	})
}

func TestATinyTimeoutStillLooksOnce(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{Probe: &operation{readyAt: time.Nanosecond}, Timeout: 10 * time.Millisecond})
	wantTimeline(t, have, `
0s      wait    #1 5ms last look
5ms     start   #1
5ms     attempt #1 SUCCESS in 0s: HTTP 200 OK
5ms     end     succeeded SUCCESS after 1: HTTP 200 OK
`)
}

func TestAttemptTimeout(t *testing.T) {
	t.Parallel()
	have := timeline(t, poll.Poller{
		Probe:          &operation{slow: map[int]time.Duration{1: time.Hour}, readyAt: time.Second},
		AttemptTimeout: 5 * time.Second,
		Timeout:        time.Minute,
	})
	wantTimeline(t, have, `
0s      wait    #1 100ms
100ms   start   #1
5.1s    attempt #1 NOT_READY in 5s: attempt timed out
5.1s    wait    #2 200ms
5.3s    start   #2
5.3s    attempt #2 SUCCESS in 0s: HTTP 200 OK
5.3s    end     succeeded SUCCESS after 2: HTTP 200 OK
`)
}

func TestHints(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		poller poll.Poller
		want   string
	}{
		"longer than the own wait": {
			poll.Poller{
				Probe:   &operation{answers: map[int]status.Observation{1: hinted(429, 30*time.Second)}, readyAt: time.Second},
				Timeout: time.Minute,
			}, `
0s      wait    #1 100ms
100ms   wait    #2 31.5s hint 30s
`},
		"shorter than the own wait": {
			poll.Poller{
				Probe:    &operation{answers: map[int]status.Observation{1: hinted(503, time.Second)}, readyAt: time.Second},
				Schedule: backoff.Fixed(10 * time.Second),
			}, `
0s      wait    #1 10s
10s     wait    #2 10.05s hint 1s
`},
		"not ready, past the deadline: the last look": {
			poll.Poller{
				Probe:   &operation{answers: map[int]status.Observation{1: hinted(202, time.Hour)}, readyAt: time.Second},
				Timeout: 10 * time.Second,
			}, `
0s      wait    #1 100ms
100ms   wait    #2 9.85s hint 1h0m0s last look
`},
		"throttled, fits barely: never earlier than asked": {
			poll.Poller{
				Probe:   &operation{answers: map[int]status.Observation{1: hinted(429, 9880*time.Millisecond)}, readyAt: time.Second},
				Timeout: 10 * time.Second,
			}, `
0s      wait    #1 100ms
100ms   wait    #2 9.88s hint 9.88s last look
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.poller.Rand = rand.New(half{})
			have := timeline(t, test.poller)
			wantTimeline(t, only(poll.EventWait, have), test.want)
			if !strings.Contains(have, "end     succeeded") {
				t.Error(have)
			}
		})
	}
}

func TestTheLongestHintIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll.Poller{Probe: &operation{answers: map[int]status.Observation{1: hinted(429, math.MaxInt64)}}}
		for e := range p.Events(t.Context()) {
			if e.Kind != poll.EventWait || attemptOf(e) == 1 {
				continue
			}
			if e.Wait != math.MaxInt64 {
				t.Errorf("have %s, want %s", e.Wait, time.Duration(math.MaxInt64))
			}
			break
		}
	})
}

// half is a source that is always in the middle.
type half struct{}

func (half) Uint64() uint64 { return 1 << 63 >> 11 & (1<<53 - 1) }

func TestAThrottlingHintPastTheDeadlineEndsTheRun(t *testing.T) {
	t.Parallel()
	for hint, words := range map[time.Duration]string{
		time.Hour:               "1h",
		9900 * time.Millisecond: "9.9s", // no time is left after it
	} {
		have := timeline(t, poll.Poller{
			Probe:       &operation{answers: map[int]status.Observation{1: hinted(429, hint)}},
			Timeout:     10 * time.Second,
			MaxAttempts: 1,
		})
		wantTimeline(t, only(poll.EventEnd, have), `
100ms   end     throttled past the deadline THROTTLED after 1: HTTP 429 Too Many Requests, Retry-After asks for `+words+`, and 9.9s are left before the deadline
`)
	}
}

func TestThrottledWithoutAHintSlowsDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		throttled backoff.Schedule
		want      string
	}{
		"equal jitter on the doubled wait": {nil, `
0s      wait    #1 10s
10s     wait    #2 15s
`},
		"as the caller says": {backoff.Fixed(time.Minute), `
0s      wait    #1 10s
10s     wait    #2 1m0s
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := timeline(t, poll.Poller{
				Probe:     &operation{answers: map[int]status.Observation{1: answer(429)}, readyAt: time.Second},
				Schedule:  backoff.Fixed(10 * time.Second),
				Throttled: test.throttled,
				Rand:      rand.New(half{}),
			})
			wantTimeline(t, only(poll.EventWait, have), test.want)
		})
	}
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	good, bad := answer(200), answer(404)
	have := timeline(t, poll.Poller{
		Probe: &operation{answers: map[int]status.Observation{
			1: good, 2: bad, 3: good, 4: good, 6: bad, 7: bad, 8: good, 9: good, 10: good,
		}},
		Schedule:         backoff.Fixed(time.Second),
		SuccessThreshold: 3,
		ErrorThreshold:   3,
	})
	wantTimeline(t, only(poll.EventEnd, have), `
10s     end     succeeded SUCCESS after 10: HTTP 200 OK
`)
}

// A SUCCESS that did not end the run is no SUCCESS of the run.
func TestTooFewVerdictsDoNotDecide(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code int
		want status.Status
		note string
	}{
		"success": {200, status.NotReady, "the last verdict was SUCCESS, 2 of 3 in a row"},
		"error":   {404, status.Error, "the last verdict was ERROR, 2 of 3 in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same := answer(test.code)
			p := poll.Poller{
				Probe:            &operation{answers: map[int]status.Observation{1: same, 2: same}},
				Schedule:         backoff.Fixed(0),
				MaxAttempts:      2,
				SuccessThreshold: 3, ErrorThreshold: 3,
			}
			outcome, err := p.Run(t.Context())
			if !errors.Is(err, poll.AttemptsExhausted) || outcome.Status != test.want {
				t.Errorf("have %s, %v; want %s, attempts exhausted", outcome.Status, err, test.want)
			}
			if diff := cmp.Diff([]string{test.note}, outcome.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// What a rule may have meant is said of the first answer and of the outcome, and
// makes no reason new.
func TestHintsAreSaidOnce(t *testing.T) {
	t.Parallel()
	done, err := status.NewRule(status.Success, `.State == "done"`)
	if err != nil {
		t.Fatal(err)
	}
	same := answer(200)
	same.Body = []byte(`{"state":"running"}`)
	p := poll.Poller{
		Probe:    &operation{answers: map[int]status.Observation{1: same, 2: same, 3: same}},
		Schedule: backoff.Fixed(0), Rules: status.Rules{Own: []status.Rule{done}}, MaxAttempts: 3,
	}
	var hints []string
	for ev := range p.Events(t.Context()) {
		switch ev.Kind {
		case poll.EventAttempt:
			hints = append(hints, strings.Join(ev.Verdict.Hints, ";"))
			if want := `.State is missing, want == "done"`; ev.Verdict.Reason != want {
				t.Errorf("reason %q, want %q", ev.Verdict.Reason, want)
			}
		case poll.EventEnd:
			hints = append(hints, strings.Join(ev.Outcome.Verdict.Hints, ";"))
		}
	}
	meant := "did you mean .state?"
	if diff := cmp.Diff([]string{meant, "", "", meant}, hints); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}

func TestARuleThatNeverHadAChanceIsNoted(t *testing.T) {
	t.Parallel()
	done, err := status.NewRule(status.Success, `.state == "done"`)
	if err != nil {
		t.Fatal(err)
	}
	p := poll.Poller{Immediate: true, Probe: &operation{}, Rules: status.Rules{Own: []status.Rule{done}}, MaxAttempts: 1}
	outcome, _ := p.Run(t.Context())
	want := []string{`until .state == "done" was never decidable: .state is unknown: the body is empty`}
	if diff := cmp.Diff(want, outcome.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestNoThresholdIsWaitedForAfterAFinalVerdict(t *testing.T) {
	t.Parallel()
	notFound := status.Observation{Kind: status.KindCommand, Exit: new(127)}
	have := timeline(t, poll.Poller{
		Probe:          &operation{answers: map[int]status.Observation{1: notFound}},
		ErrorThreshold: 3,
	})
	wantTimeline(t, only(poll.EventEnd, have), `
100ms   end     failed ERROR after 1: exit code 127 (command not found)
`)
}

func TestAProgramThatCannotBeRunIsNoAttempt(t *testing.T) {
	t.Parallel()
	missing := status.Observation{Kind: status.KindCommand, Failure: &status.Failure{
		Kind: status.FailureNotFound, Reason: "nosuch: not found",
	}}
	have := timeline(t, poll.Poller{
		Probe:          &operation{answers: map[int]status.Observation{1: missing}},
		ErrorThreshold: 3,
	})
	wantTimeline(t, have, `
0s      wait    #1 100ms
100ms   start   #1
100ms   end     cannot be run ERROR after 0: nosuch: not found
`)
}

type checked struct {
	operation
	err error
}

func (c checked) Check() error { return c.err }

func TestAProbeThatCannotWorkIsNotAttempted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want poll.Ending
	}{
		{errors.New("the URL has no host"), poll.Failed},
		{&status.Failure{Kind: status.FailureNotFound, Reason: "nosuch: not found"}, poll.CannotRun},
	} {
		p := poll.Poller{Probe: checked{err: test.err}}
		outcome, err := p.Run(t.Context())
		if !errors.Is(err, test.want) || outcome.Status != status.Error || outcome.State.Attempts != 0 || outcome.Reason != test.err.Error() {
			t.Errorf("have %+v, want %s", outcome, test.want)
		}
	}
}

// An answer to the start that may have started it ends the run, whatever the
// threshold, and no note says that more of them were needed.
func TestALostStartEndsTheRunAtOnce(t *testing.T) {
	t.Parallel()
	lost := status.Observation{Kind: status.KindHTTP, Following: status.Following{Start: true}, Failure: &status.Failure{
		Kind: status.FailureMayHaveStarted, Reason: "the answer was lost",
	}}
	p := poll.Poller{
		Immediate:      true,
		Probe:          &operation{answers: map[int]status.Observation{1: lost}},
		ErrorThreshold: 3,
	}
	outcome, err := p.Run(t.Context())
	if !errors.Is(err, poll.Failed) || outcome.State.Attempts != 1 || len(outcome.Notes) > 0 {
		t.Errorf("have %+v, %v; want a failure without notes", outcome, err)
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		poller poll.Poller
		want   poll.Ending
	}{
		"error":    {poll.Poller{Probe: &operation{answers: map[int]status.Observation{1: answer(404)}}}, poll.Failed},
		"attempts": {poll.Poller{Probe: &operation{}, MaxAttempts: 1}, poll.AttemptsExhausted},
		"timeout":  {poll.Poller{Probe: &operation{}, Timeout: time.Second}, poll.TimedOut},
		"throttled": {poll.Poller{
			Probe: &operation{answers: map[int]status.Observation{1: hinted(429, time.Hour)}}, Timeout: time.Second,
		}, poll.HintTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				outcome, err := test.poller.Run(t.Context())
				if outcome.Ending != test.want || !errors.Is(err, test.want) {
					t.Errorf("have %v, %v; want %v", outcome.Ending, err, test.want)
				}
			})
		})
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	for name, test := range map[string]struct {
		after time.Duration
		op    operation
		want  string
	}{
		"while waiting": {250 * time.Millisecond, operation{},
			"250ms   end     interrupted NOT_READY after 1: enough; last: HTTP 202 Accepted\n"},
		"while probing": {250 * time.Millisecond, operation{takes: time.Hour},
			"250ms   end     interrupted NOT_READY after 1: enough; last: stopped\n"},
		"before the first attempt": {50 * time.Millisecond, operation{},
			"50ms    end     interrupted  after 0: enough\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(test.after, func() { cancel(cause) })
				p := poll.Poller{Probe: &test.op}
				var last string
				for e := range p.Events(ctx) {
					last = line(e) + "\n"
				}
				wantTimeline(t, last, test.want)
				if _, err := p.Run(ctx); !errors.Is(err, cause) || !errors.Is(err, poll.Interrupted) {
					t.Errorf("error %v does not unwrap to its ending and cause", err)
				}
			})
		})
	}
}

// An observation that was complete before a signal decides.
func TestACompleteAnswerDecidesThoughTheCallerHasGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := poll.Poller{Immediate: true, Probe: poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation {
		cancel()
		return status.Observation{}
	})}
	if outcome, err := p.Run(ctx); err != nil {
		t.Errorf("have %v, want success", outcome)
	}
}

func TestNothingIsYieldedAfterABreak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll.Poller{Probe: &operation{}, Timeout: time.Minute}
		for _, stop := range []poll.EventKind{poll.EventWait, poll.EventStart, poll.EventAttempt, poll.EventEnd} {
			for e := range p.Events(t.Context()) {
				if e.Kind == stop {
					break
				}
			}
		}
	})
}

// The schedule is told the age of the run at the beginning of each wait: the
// initial delay comes before the first.
func TestPoller_elapsedOfSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have []backoff.Step
		p := poll.Poller{
			Probe: operation{takes: time.Second, readyAt: 20 * time.Second}, InitialDelay: 10 * time.Second,
			Schedule: backoff.ScheduleFunc(func(s backoff.Step, _ *rand.Rand) time.Duration {
				have = append(have, s)
				return 5 * time.Second
			}),
		}
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []backoff.Step{
			{N: 0, Elapsed: 10 * time.Second},
			{N: 1, Elapsed: 16 * time.Second, Previous: 5 * time.Second},
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	})
}
