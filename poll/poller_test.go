package poll_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// Of each run those kinds of events are compared that it names.
func TestTimelines(t *testing.T) {
	first := func(o status.Observation) map[int]status.Observation { return map[int]status.Observation{1: o} }
	good, bad := answer(200), answer(404)
	for name, test := range map[string]struct {
		poller poll.Poller
		want   string
	}{
		"immediate, and 20s at most": {poll.Poller{Probe: &operation{}, Immediate: true, MaxAttempts: 11}, `
0s      wait    #1 0s
0s      wait    #2 200ms
200ms   wait    #3 400ms
600ms   wait    #4 800ms
1.4s    wait    #5 1.6s
3s      wait    #6 3.2s
6.2s    wait    #7 6.4s
12.6s   wait    #8 12.8s
25.4s   wait    #9 20s
45.4s   wait    #10 20s
1m5.4s  wait    #11 20s
1m25.4s end     attempts exhausted NOT_READY after 11: attempts made: 11 of 11; last: HTTP 202 Accepted
`},
		"a slow probe looks several times": {poll.Poller{
			Probe:    &operation{takes: 2 * time.Second, slow: map[int]time.Duration{3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0}},
			Schedule: backoff.Fixed(3 * time.Second), Timeout: 10 * time.Second,
		}, `
0s      wait    #1 3s
5s      wait    #2 2.5s last look
9.5s    wait    #3 250ms last look
9.75s   wait    #4 125ms last look
9.875s  wait    #5 62.5ms last look
9.9375s wait    #6 31.25ms last look
9.96875s end     timed out NOT_READY after 6: timed out after 10s; last: HTTP 202 Accepted
`},
		"one slow attempt does not end the run early": {poll.Poller{
			Probe:    &operation{takes: 10 * time.Millisecond, slow: map[int]time.Duration{1: 8 * time.Second}, readyAt: 19 * time.Second},
			Schedule: backoff.Fixed(time.Second), Timeout: 20 * time.Second,
		}, `
19.095s end     succeeded SUCCESS after 11: HTTP 200 OK
`},
		"the last look does not reckon with what was cut off": {poll.Poller{
			Probe:    &operation{slow: map[int]time.Duration{1: time.Hour}, readyAt: 15 * time.Second},
			Schedule: backoff.Fixed(14 * time.Second), AttemptTimeout: 4 * time.Second, Timeout: 20 * time.Second,
		}, `
0s      wait    #1 14s
18s     wait    #2 1s last look
19s     end     succeeded SUCCESS after 2: HTTP 200 OK
`},
		"a shorter one": {poll.Poller{
			Probe: &operation{answers: first(hinted(503, time.Second)), readyAt: time.Second}, Schedule: backoff.Fixed(10 * time.Second),
		}, `
0s      wait    #1 10s
10s     wait    #2 10.05s hint 1s
20.05s  end     succeeded SUCCESS after 2: HTTP 200 OK
`},
		"past the deadline, not ready: the last look": {poll.Poller{
			Probe: &operation{answers: first(hinted(202, time.Hour)), readyAt: time.Second}, Timeout: 10 * time.Second,
		}, `
0s      wait    #1 100ms
100ms   wait    #2 9.85s hint 1h0m0s last look
9.95s   end     succeeded SUCCESS after 2: HTTP 200 OK
`},
		"throttled, and it fits barely: never earlier than asked": {poll.Poller{
			Probe: &operation{answers: first(hinted(429, 9880*time.Millisecond)), readyAt: time.Second}, Timeout: 10 * time.Second,
		}, `
0s      wait    #1 100ms
100ms   wait    #2 9.88s hint 9.88s last look
9.98s   end     succeeded SUCCESS after 2: HTTP 200 OK
`},
		"throttled, and no time is left after it": {poll.Poller{
			Probe: &operation{answers: first(hinted(429, 9900*time.Millisecond))}, Timeout: 10 * time.Second, MaxAttempts: 1,
		}, `
0s      wait    #1 100ms
100ms   end     throttled past the deadline THROTTLED after 1: HTTP 429 Too Many Requests, Retry-After asks for 9.9s, and 9.9s are left before the deadline
`},
		"throttled without a hint: equal jitter on the doubled wait": {poll.Poller{
			Probe: &operation{answers: first(answer(429)), readyAt: time.Second}, Schedule: backoff.Fixed(10 * time.Second),
		}, `
0s      wait    #1 10s
10s     wait    #2 15s
25s     end     succeeded SUCCESS after 2: HTTP 200 OK
`},
		"repeated refusals double a constant interval for the rest of the wait": {poll.Poller{
			Probe: &operation{answers: map[int]status.Observation{
				1: answer(429), 2: answer(202), 3: answer(429), 4: answer(503), 5: hinted(429, time.Second), 6: answer(429), 7: answer(429), 8: answer(429),
			}, readyAt: 100 * time.Second},
			Schedule: backoff.Fixed(time.Second), Immediate: true,
		}, `
0s      wait    #1 0s
0s      wait    #2 1.5s
1.5s    wait    #3 2s
3.5s    wait    #4 3s
6.5s    wait    #5 4s
10.5s   wait    #6 4.05s hint 1s
14.55s  wait    #7 6s
20.55s  wait    #8 12s
32.55s  wait    #9 18s
50.55s  wait    #10 20s
1m10.55s wait    #11 20s
1m30.55s wait    #12 20s
1m50.55s end     succeeded SUCCESS after 12: HTTP 200 OK
`},
		"refusals leave a growing schedule alone": {poll.Poller{
			Probe:     &operation{answers: map[int]status.Observation{1: answer(429), 2: answer(429), 3: answer(429)}, readyAt: 2 * time.Second},
			Throttled: backoff.Exponential{},
		}, `
0s      wait    #1 100ms
100ms   wait    #2 200ms
300ms   wait    #3 400ms
700ms   wait    #4 800ms
1.5s    wait    #5 1.6s
3.1s    end     succeeded SUCCESS after 5: HTTP 200 OK
`},
		"thresholds": {poll.Poller{
			Probe: &operation{answers: map[int]status.Observation{
				1: good, 2: bad, 3: good, 4: good, 6: bad, 7: bad, 8: good, 9: good, 10: good,
			}},
			Immediate: true, Schedule: backoff.Fixed(0), SuccessThreshold: poll.Threshold{Times: 3}, ErrorThreshold: poll.Threshold{Times: 3},
		}, `
0s      end     succeeded SUCCESS after 10: HTTP 200 OK
`},
		"a wait of a nanosecond is waited for": {poll.Poller{Probe: &operation{}, Immediate: true, Schedule: backoff.Fixed(1), MaxAttempts: 3}, `
0s      wait    #1 0s
0s      wait    #2 1ns
0s      wait    #3 1ns
0s      end     attempts exhausted NOT_READY after 3: attempts made: 3 of 3; last: HTTP 202 Accepted
`},
		"a program that cannot be run is no attempt": {poll.Poller{
			Probe: &operation{answers: first(status.Observation{Kind: status.KindCommand, Failure: &status.Failure{
				Kind: status.FailureNotFound, Reason: "nosuch: not found",
			}})}, ErrorThreshold: poll.Threshold{Times: 3},
		}, `
0s      wait    #1 100ms
100ms   end     cannot be run ERROR after 0: nosuch: not found
`},
	} {
		t.Run(name, func(t *testing.T) {
			test.poller.Rand = rand.New(half{})
			have := timeline(t, test.poller)
			var lines strings.Builder
			for l := range strings.Lines(have) {
				if kind := strings.Fields(l)[1]; strings.Contains(test.want, " "+kind+" ") {
					lines.WriteString(l)
				}
			}
			wantTimeline(t, lines.String(), test.want)
		})
	}
}

func TestASlowConsumerIsPartOfTheWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
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

// A probe that takes less than 95 ms sees an operation that has ended 200 ms before the deadline, whatever the
// phase of the schedule. The attempts take a fraction of a millisecond more than a whole number, so that none of
// them ends at the deadline. An attempt and a deadline at the same time may come in either order.
func TestPoller_seesASuccess200msBeforeTheDeadline(t *testing.T) {
	const timeout = 5 * time.Second
	for takes := 100 * time.Microsecond; takes < 95*time.Millisecond; takes += 7 * time.Millisecond {
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

// half is a source that is always in the middle.
type half struct{}

func (half) Uint64() uint64 { return 1 << 63 >> 11 & (1<<53 - 1) }

func TestUntilWith(t *testing.T) {
	for name, test := range map[string]struct {
		err, is error
		done    bool
		want    string
		took    time.Duration
	}{
		"not done":               {want: "wait for it: timed out after 10s; last: not done yet", is: poll.TimedOut, took: 9975 * time.Millisecond},
		"an error":               {err: fs.ErrNotExist, done: true, is: fs.ErrNotExist, want: "wait for it: timed out after 10s; last: file does not exist", took: 9975 * time.Millisecond},
		"permanent":              {err: poll.Permanent(fs.ErrNotExist), is: fs.ErrNotExist, want: "wait for it: failed: file does not exist", took: time.Second},
		"throttled":              {err: poll.Throttled(fs.ErrNotExist, 0), is: fs.ErrNotExist, want: "wait for it: timed out after 10s; last: file does not exist", took: 9975 * time.Millisecond},
		"throttled for too long": {err: poll.Throttled(fs.ErrNotExist, time.Minute), is: poll.ThrottledTooLong, want: "wait for it: throttled past the deadline: file does not exist, the probe asks for 1m, and 9s are left before the deadline", took: time.Second},
		"permanently throttled":  {err: poll.Throttled(poll.Permanent(fs.ErrNotExist), 0), is: poll.Failed, want: "wait for it: failed: file does not exist", took: time.Second},
		"done":                   {done: true, took: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				every := backoff.Fixed(time.Second)
				p := poll.Poller{Target: "it", Schedule: every, Throttled: every, Timeout: 10 * time.Second}
				began := time.Now()
				have, err := poll.UntilWith(t.Context(), p, func(context.Context) (int, bool, error) { return 42, test.done, test.err })
				if have != 42 {
					t.Errorf("value: have %d, want 42", have)
				}
				if !errors.Is(err, test.is) || err != nil && err.Error() != test.want || (err == nil) != (test.want == "") {
					t.Errorf("have %v, want %q", err, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestObserve_theEndOfTheAttempt(t *testing.T) {
	for _, test := range map[string]struct {
		poller poll.Poller
		want   string
	}{
		"attempt timeout": {poll.Poller{AttemptTimeout: time.Second, MaxAttempts: 1}, `
1.1s    attempt #1 NOT_READY in 1s: attempt timed out
1.1s    end     attempts exhausted NOT_READY after 1: attempts made: 1 of 1; last: attempt timed out
`},
		"deadline": {poll.Poller{Timeout: time.Second}, `
1s      attempt #1 NOT_READY in 900ms: the last attempt was still running
1s      end     timed out NOT_READY after 1: timed out after 1s; last: the last attempt was still running
`},
	} {
		test.poller.Probe = poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
			<-ctx.Done()
			return poll.Observe(ctx, nil, ctx.Err())
		})
		have := timeline(t, test.poller)
		wantTimeline(t, only(poll.EventAttempt, have)+only(poll.EventEnd, have), test.want)
	}
}

func TestNilErrorsStayNil(t *testing.T) {
	if poll.Permanent(nil) != nil || poll.Throttled(nil, time.Second) != nil {
		t.Error("have an error, want none")
	}
}

// If a context is canceled with a Permanent cause, the wait has failed.
func TestPermanentCause(t *testing.T) {
	for name, test := range map[string]struct {
		after  time.Duration
		look   time.Duration
		reason string
		tries  int
	}{
		"before the first attempt": {0, 0, "the server is gone", 0},
		"between two attempts":     {90 * time.Second, 0, "the server is gone; last: not yet", 1},
		"during an attempt":        {61 * time.Second, 5 * time.Second, "the server is gone; last: stopped before a response", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				gone := errors.New("the server is gone")
				time.AfterFunc(test.after, func() { cancel(poll.Permanent(gone)) })
				if test.after == 0 {
					cancel(poll.Permanent(gone))
				}
				probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
					select {
					case <-time.After(test.look):
					case <-ctx.Done():
					}
					return poll.Observe(ctx, nil, errors.New("not yet"))
				})
				p := poll.Poller{Probe: probe, Schedule: backoff.Fixed(time.Minute)}
				o, err := p.Run(ctx)
				if o.Ending != poll.Failed || o.Status != status.Error || o.Reason != test.reason || o.State.Attempts != test.tries {
					t.Errorf("have %v, %v, %q after %d attempts", o.Ending, o.Status, o.Reason, o.State.Attempts)
				}
				if o.State.Ended() {
					t.Error("the state has ended, and nobody has seen the end of the operation")
				}
				if !errors.Is(err, gone) || !errors.Is(err, poll.Failed) || o.Elapsed != test.after {
					t.Errorf("have %v after %v", err, o.Elapsed)
				}
			})
		})
	}
}

// Get returns the document that the condition has matched, and GetJSON decodes the document.
func TestGetJSONReadsAByteOrderMark(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "\ufeff"+`{"state":"done"}`)
	}))
	defer server.Close()
	job, err := poll.GetJSON[struct{ State string }](t.Context(), server.URL, `.state == "done"`)
	if err != nil || job.State != "done" {
		t.Errorf("have %+v, %v", job, err)
	}
	if body, err := poll.Get(t.Context(), server.URL, `.state == "done"`); err != nil || string(body) != "\ufeff"+`{"state":"done"}` {
		t.Errorf("Get: have %q, %v", body, err)
	}
	if body, err := poll.Get(t.Context(), server.URL, `.state == `); err == nil || body != nil {
		t.Errorf("Get with an invalid condition: have %q, %v", body, err)
	}
}

// Decode has no value of a wait that failed, of an earlier run, of a response that was cut, or of another type.
func TestDecodeFails(t *testing.T) {
	whole := &status.Observation{Body: []byte(`[]`)}
	for want, o := range map[string]poll.Outcome{
		"wait for a: timed out after 1s": {Target: "a", Ending: poll.TimedOut, Reason: "timed out after 1s", Observation: whole},
		"an earlier run":                 {Ending: poll.Succeeded, Resumed: true},
		"the response of a: the response has more than the 2 byte": {Target: "a", Ending: poll.Succeeded, Observation: &status.Observation{Body: []byte(`{}`), Truncated: true}},
		"the response of a: json: cannot unmarshal array":          {Target: "a", Ending: poll.Succeeded, Observation: whole},
	} {
		if value, err := poll.Decode[struct{ State string }](o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("have %v, %v, want %s", value, err, want)
		}
	}
	if _, err := poll.Start[any](t.Context(), "http://a.invalid", make(chan int), ".a"); err == nil || !strings.HasPrefix(err.Error(), "encode the body of the start request: ") {
		t.Errorf("have %v", err)
	}
}
