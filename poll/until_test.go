package poll_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

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
		"throttled for too long": {err: poll.Throttled(fs.ErrNotExist, time.Minute), is: poll.HintTooLong, want: "wait for it: throttled past the deadline: file does not exist, the probe asks for 1m, and 9s are left before the deadline", took: time.Second},
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
		"during an attempt":        {61 * time.Second, 5 * time.Second, "the server is gone; last: stopped before there was an answer", 1},
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

// GetJSON decodes the document that the condition has matched.
func TestGetJSONReadsAByteOrderMark(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "\ufeff"+`{"state":"done"}`)
	}))
	defer server.Close()
	job, err := poll.GetJSON[struct{ State string }](t.Context(), server.URL, `.state == "done"`)
	if err != nil || job.State != "done" {
		t.Errorf("have %+v, %v", job, err)
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
