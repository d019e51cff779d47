package ui

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares have with testdata/name.
func golden(t *testing.T, name, have string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(t, os.WriteFile(file, []byte(have), 0o644))
	}
	want := must(os.ReadFile(file))
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// A recording holds the events of a run that never happened.
type recording struct {
	target  string
	timeout time.Duration // 0 = none
	max     int
	began   time.Time
	opBegan time.Time     // the operation; zero while its start is due
	now     time.Duration // since began
	made    int           // attempts
	since   time.Time     // the first of the equal verdicts
	last    poll.Event    // AttemptEvent
	events  []poll.Event
}

func newRecording(target string, timeout time.Duration, maxAttempts int) *recording {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return &recording{target: target, timeout: timeout, max: maxAttempts, began: began, opBegan: began}
}

func (t *recording) event(ev poll.Event) *recording {
	ev.Target, ev.MaxAttempts = t.target, t.max
	ev.At, ev.Elapsed, ev.State.Began = t.began.Add(t.now), t.now, t.opBegan
	if t.timeout > 0 {
		ev.Deadline = t.began.Add(t.timeout)
	}
	t.events = append(t.events, ev)
	return t
}

// wait records a wait of d, which ends in time; hint may be nil.
func (t *recording) wait(d time.Duration, hint *status.RetryAfter) *recording {
	t.event(poll.Event{Kind: poll.EventWait, Wait: d,
		State: poll.State{Attempts: t.made, Due: t.began.Add(t.now + d), RetryAfter: hint}})
	t.now += d
	return t
}

// held records that the attempt is held back for d, although that may take for most.
func (t *recording) held(by string, d, most time.Duration) *recording {
	t.wait(most, nil)
	t.events[len(t.events)-1].HeldBy = by
	t.now += d - most
	return t
}

func (t *recording) pass(d time.Duration) *recording {
	t.now += d
	return t
}

// lastAttempt records a wait that was shortened.
func (t *recording) lastAttempt(d time.Duration) *recording {
	t.wait(d, nil)
	t.events[len(t.events)-1].State.LastAttempt = true
	return t
}

// attempt records an attempt that took 50 ms.
func (t *recording) attempt(v status.Verdict, o *status.Observation) *recording {
	return t.streak(v, o, 1, 1)
}

func (t *recording) streak(v status.Verdict, o *status.Observation, n, threshold int) *recording {
	t.event(poll.Event{Kind: poll.EventStart, State: poll.State{Attempts: t.made + 1}})
	t.made++
	t.now += 50 * time.Millisecond
	if n == 1 {
		t.since = t.began.Add(t.now)
	}
	t.last = poll.Event{Kind: poll.EventAttempt, Observation: o, Verdict: v,
		Took: 50 * time.Millisecond, State: poll.State{Attempts: t.made, Streak: n, Since: t.since}, Threshold: poll.Threshold{Times: threshold}}
	return t.event(t.last)
}

// messages records messages that come a second apart, and the end of their stream.
func (t *recording) messages(end status.Verdict, all ...status.Verdict) *recording {
	state := poll.State{Attempts: t.made + 1}
	t.event(poll.Event{Kind: poll.EventStart, State: state})
	t.made++
	for _, v := range all {
		t.now += time.Second
		state.Messages, state.Heard = state.Messages+1, t.began.Add(t.now)
		t.event(poll.Event{Kind: poll.EventMessage, Observation: &status.Observation{Kind: status.KindCommand}, Verdict: v, State: state})
	}
	t.now += 2 * time.Second
	state.Streak = 1
	t.last = poll.Event{Kind: poll.EventAttempt, Observation: exitAnswer(0, "", ""), Verdict: end, Took: time.Second, State: state, Threshold: poll.Threshold{Times: 1}}
	return t.event(t.last)
}

// end records the end. What o does not say is taken from the last attempt.
func (t *recording) end(o poll.Outcome) []poll.Event {
	o.Target, o.Elapsed = t.target, t.now
	if t.last.Kind != "" {
		o.State.Attempts = t.made
		if o.Verdict.Reason == "" {
			o.Verdict, o.Observation = t.last.Verdict, t.last.Observation
		}
		if o.Status == status.None {
			o.Status = o.Verdict.Status
		}
		if o.Reason == "" {
			o.Reason = o.Verdict.Reason
		}
	}
	o.State.Start, o.State.Began = t.began, t.opBegan
	t.event(poll.Event{Kind: poll.EventEnd, State: o.State, Outcome: &o})
	return t.events
}

func httpAnswer(code int, body string) *status.Observation {
	return new(poll.Recorded(status.Observation{Kind: status.KindHTTP, Code: &code, Body: []byte(body), Size: int64(len(body))}))
}

func exitAnswer(code int, stdout, stderr string) *status.Observation {
	return new(poll.Recorded(status.Observation{Kind: status.KindCommand, Exit: &code, Body: []byte(stdout),
		Size: int64(len(stdout)), Stderr: []byte(stderr)}))
}

func noAnswer(reason string) *status.Observation {
	return &status.Observation{Kind: status.KindHTTP,
		Failure: &status.Failure{Reason: reason, Err: errors.New(reason)}}
}

func verdict(s status.Status, rule, reason string) status.Verdict {
	return status.Verdict{Status: s, Rule: rule, Reason: reason}
}

func notReady(reason string) status.Verdict { return verdict(status.NotReady, "", reason) }

const (
	jobURL = "https://api.example.com/jobs/42"
	until  = `--until .state=="done"`
)

// recordings are one run for every ending, and for everything a face has to say.
func recordings() map[string][]poll.Event {
	pending := httpAnswer(200, `{"state":"queued"}`)
	done := httpAnswer(200, `{"state":"done","n":7}`)
	retryAfter := &status.RetryAfter{Wait: 2 * time.Second, Source: "Retry-After"}

	succeeded := newRecording(jobURL, 10*time.Minute, 0).
		wait(100*time.Millisecond, nil).attempt(notReady("connection refused"), noAnswer("connection refused")).
		wait(200*time.Millisecond, nil).attempt(notReady(`.state is "queued", want == "done"`), pending).
		wait(400*time.Millisecond, nil).attempt(notReady(`.state is "queued", want == "done"`), pending).
		wait(800*time.Millisecond, nil)
	throttled := httpAnswer(429, "slow down\n")
	throttled.RetryAfter = retryAfter
	succeeded.attempt(verdict(status.Throttled, "", "HTTP 429, Retry-After asks for 2s"), throttled).
		wait(2*time.Second, retryAfter).
		attempt(status.Verdict{Status: status.Success, Rule: until, Reason: `.state is "done"`,
			Hints: status.Notes(".errors is an empty list, which is true")}, done)

	stream := newRecording("tail", 10*time.Minute, 0).wait(100*time.Millisecond, nil).
		messages(verdict(status.Success, until, `.state is "done"`), notReady(`.state is "queued", want == "done"`), notReady(`.state is "running", want == "done"`))

	failed := newRecording(jobURL, 10*time.Minute, 0).
		wait(100*time.Millisecond, nil).
		attempt(verdict(status.Error, "", "HTTP 404"), httpAnswer(404, "{\"error\":\"no such job\"}\n"))

	ofRule := verdict(status.Error, `--error-if .status.phase=="Failed"`, `.status.phase is "Failed"`)
	ofRule.Objects = []status.Object{{ID: "Pod b\x1b[1m", Status: status.Error, Reason: "evicted"}, {ID: "Pod a", Status: status.Success}}
	byRule := newRecording("kubectl", 5*time.Minute, 0).
		wait(100*time.Millisecond, nil).
		attempt(ofRule, exitAnswer(0, `{"status":{"phase":"Failed"}}`, ""))

	timedOut := newRecording(jobURL, 3*time.Second, 0)
	html := httpAnswer(200, "<html>\n<title>Sign in</title>\n")
	html.Hints = status.Notes("Retry-After: -1 is ignored: a wait cannot be negative")
	timedOut.wait(100*time.Millisecond, nil).attempt(notReady("the answer is not JSON"), html).
		lastAttempt(2700*time.Millisecond).attempt(notReady("the answer is not JSON"), html)
	timedOut.now = 3 * time.Second

	threshold := newRecording(jobURL, 10*time.Minute, 0)
	for n := range 3 {
		threshold.wait(time.Second, nil).streak(verdict(status.Success, until, `.state is "done"`), done, n+1, 3)
	}

	follow := newRecording("https://api.example.com/jobs", 10*time.Minute, 0)
	started := httpAnswer(202, "")
	started.Next = "https://api.example.com/operations/7"
	started.Start = true
	follow.wait(100*time.Millisecond, nil).attempt(notReady("HTTP 202, started"), started)
	running := httpAnswer(202, "")
	running.Next = started.Next
	follow.wait(200*time.Millisecond, nil).attempt(notReady("HTTP 202"), running).
		wait(400*time.Millisecond, nil).attempt(verdict(status.Success, "", "HTTP 200"), done)

	meant := status.Verdict{Status: status.NotReady, Reason: `.State is missing, want == "done"`,
		Hints: []status.Hint{{Kind: status.HintCorrection, Text: "did you mean .state?"}, {Kind: status.HintCorrection, Text: "the document has: \x1b[31ma\nb"}}}
	misspelled := newRecording(jobURL, 0, 3).
		wait(100*time.Millisecond, nil).attempt(meant, pending).
		wait(200*time.Millisecond, nil).attempt(notReady(meant.Reason), pending).
		wait(400*time.Millisecond, nil).attempt(notReady(meant.Reason), pending)

	shared := newRecording(jobURL, 10*time.Minute, 0).
		wait(100*time.Millisecond, nil).attempt(notReady(`.state is "queued", want == "done"`), pending).
		wait(200*time.Millisecond, nil).held("rate", 2*time.Second, 2*time.Second).
		attempt(verdict(status.Throttled, "", "HTTP 429, Retry-After asks for 2s"), throttled).
		wait(2*time.Second, retryAfter).held("gate", 0, 3*time.Second).
		event(poll.Event{Kind: poll.EventOrigin, Origin: &poll.ClosedOrigin{Name: "https://api.example.com:443", Reason: "HTTP 429"}}).
		pass(3*time.Second).
		attempt(verdict(status.Success, until, `.state is "done"`), done)

	return map[string][]poll.Event{
		"stream":      stream.end(poll.Outcome{Ending: poll.Succeeded, State: poll.State{Messages: 3, Heard: stream.began.Add(stream.now)}}),
		"shared":      shared.end(poll.Outcome{Ending: poll.Succeeded}),
		"misspelled":  misspelled.end(poll.Outcome{Ending: poll.AttemptsExhausted, Reason: `attempts made: 3 of 3; last: .State is missing, want == "done"`, Verdict: meant, Hints: meant.Hints, Observation: pending}),
		"succeeded":   succeeded.end(poll.Outcome{Ending: poll.Succeeded, Hints: status.Notes(".errors is an empty list, which is true")}),
		"failed":      failed.end(poll.Outcome{Ending: poll.Failed}),
		"failed-rule": byRule.end(poll.Outcome{Ending: poll.Failed}),
		"timed-out": timedOut.end(poll.Outcome{Ending: poll.TimedOut, Reason: "timed out after 3s; last: the answer is not JSON",
			Hints: status.Notes(`--until '.state=="done"' was never decidable: the answer was not JSON`)}),
		"threshold": threshold.end(poll.Outcome{Ending: poll.Succeeded}),
		"follow":    follow.end(poll.Outcome{Ending: poll.Succeeded}),
	}
}

// check ends the test at the first error: the preparation of the test has failed.
func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
