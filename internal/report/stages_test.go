package report

import (
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// withStages gives an observation stages of so many milliseconds, from the first on.
func withStages(o *status.Observation, unfinished bool, ms ...time.Duration) *status.Observation {
	for i, d := range ms {
		o.Stages.Took[i] = d * time.Millisecond
	}
	o.Stages.Unfinished = unfinished
	return o
}

func timeout(o *status.Observation) *status.Observation {
	o.Failure.Class = status.FailureTimeout
	return o
}

func TestStageWords(t *testing.T) {
	t.Parallel()
	reused := withStages(httpAnswer(200, ""), false, 0, 0, 0, 0, 7)
	reused.Stages.Reused = true
	stopped := withStages(noAnswer("stopped"), true, 0, 1, 5)
	stopped.Failure.Kind = status.FailureStopped
	for want, o := range map[string]*status.Observation{
		"": httpAnswer(503, ""),
		"name resolved 2ms, connected 3ms, TLS 12ms, HTTP 503 after 40ms": withStages(httpAnswer(503, ""), false, 2, 3, 0, 12, 40),
		"connection reused, HTTP 200 after 7ms":                           reused,
		"looking up the name for 30s":                                     withStages(timeout(noAnswer("x")), true, 30000),
		"name not resolved after 5ms":                                     withStages(noAnswer("x"), true, 5),
		"name resolved 2ms, connecting for 30s":                           withStages(timeout(noAnswer("x")), true, 2, 30000),
		"name resolved 2ms, not connected after 3ms":                      withStages(noAnswer("x"), true, 2, 3),
		"connected 1ms, waiting for the proxy to connect for 5ms":         stopped,
		"connected 1ms, not connected by the proxy after 5ms":             withStages(noAnswer("x"), true, 0, 1, 5),
		"connected 1ms, proxy connected 5ms, TLS handshake for 30s":       withStages(timeout(noAnswer("x")), true, 0, 1, 5, 30000),
		"connected 1ms, TLS failed after 3ms":                             withStages(noAnswer("x"), true, 0, 1, 0, 3),
		"connected 1ms, waiting for the answer for 30s":                   withStages(timeout(noAnswer("x")), true, 0, 1, 0, 0, 30000),
		"connected 1ms, no answer after 3ms":                              withStages(noAnswer("x"), true, 0, 1, 0, 0, 3),
		"connected 1ms, the answer began after 3ms, broken off after 4s":  withStages(noAnswer("x"), true, 0, 1, 0, 0, 3, 4000),
	} {
		if have := stageWords(o); have != want {
			t.Errorf("have %s\nwant %s", have, want)
		}
	}
	if have := stageWords(nil); have != "" {
		t.Errorf("have %s without an attempt", have)
	}
}

// slowly records n attempts, each twice as long as the one before.
func slowly(n int) *recording {
	r := newRecording(jobURL, time.Minute, 0)
	for i := range n {
		r.wait(time.Second, nil).attempt(notReady("HTTP 503"), withStages(httpAnswer(503, "busy"), false, 2, 3, 0, 0, 40))
		r.events[len(r.events)-1].Took = time.Millisecond << min(i, 12)
	}
	return r
}

func TestReach(t *testing.T) {
	t.Parallel()
	last := "poll: the last attempt: name resolved 2ms, connected 3ms, HTTP 503 after 40ms\n"
	for name, test := range map[string]struct {
		config  Config
		events  []poll.Event
		want    string
		wantNot string
	}{
		"a log": {events: slowly(4).end(poll.Outcome{Ending: poll.TimedOut}),
			want: last + "poll: latency: 1ms to 8ms, median 2ms\n", wantNot: "▁"},
		"a terminal": {config: Config{Face: Live}, events: slowly(4).end(poll.Outcome{Ending: poll.TimedOut}),
			want: last + "poll: latency: 1ms to 8ms, median 2ms  ▁▂▄█\n"},
		"one attempt": {events: slowly(1).end(poll.Outcome{Ending: poll.TimedOut}), want: last, wantNot: "latency"},
		"the middle of many": {events: slowly(600).end(poll.Outcome{Ending: poll.TimedOut}),
			want: last + "poll: latency of the last 450 attempts: 4.1s\n"},
		"success":              {events: slowly(2).end(poll.Outcome{Ending: poll.Succeeded}), wantNot: "latency"},
		"success, with -v":     {config: Config{Verbose: true}, events: slowly(2).end(poll.Outcome{Ending: poll.Succeeded}), want: "poll: latency: 1ms to 2ms, median 1ms\n", wantNot: "the last attempt"},
		"each attempt with -v": {config: Config{Verbose: true}, events: slowly(2).end(poll.Outcome{Ending: poll.TimedOut}), want: "  stages     name resolved 2ms, connected 3ms, HTTP 503 after 40ms\n"},
		"a command":            {events: recordings()["exhausted"], wantNot: "latency"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.config.Face == "" {
				test.config.Face = Lines
			}
			have := show(test.events, test.config)
			if !strings.Contains(have, test.want) || test.wantNot != "" && strings.Contains(have, test.wantNot) {
				t.Errorf("have\n%s\nwant in it\n%s\nand not %q", have, test.want, test.wantNot)
			}
		})
	}
}

func TestStages_objects(t *testing.T) {
	t.Parallel()
	events := slowly(3).end(poll.Outcome{Ending: poll.TimedOut})
	outcome := events[len(events)-1].Outcome
	s, out, _ := term.Buffers("")
	r := New(Config{Streams: s, Face: None})
	for _, ev := range events {
		r.Event(ev)
	}
	if err := r.WriteResult(Output{JSON: true}.Settle(*outcome), 124); err != nil {
		t.Fatal(err)
	}
	if err := validate(readSchema(t, "outcome.schema.json"), out.String()); err != nil {
		t.Errorf("%s: %v", out, err)
	}
	want := `"stages":{"reused":false,"name_s":0.002,"connect_s":0.003,"answer_s":0.04},"latency":{"min_s":0.001,"median_s":0.002,"max_s":0.004},`
	if !strings.Contains(out.String(), want) {
		t.Errorf("have %s\nwant %s in it", out, want)
	}
	broken := stagesOf(withStages(noAnswer("x"), true, 2, 3, 4, 5, 6, 7))
	text, _ := encode(broken)
	if have, want := string(text), `{"reused":false,"name_s":0.002,"connect_s":0.003,"proxy_s":0.004,"tls_s":0.005,"answer_s":0.006,"body_s":0.007,"unfinished":"body"}`+"\n"; have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	var moments []Moment
	for i := range 100 {
		moments = append(moments, Moment{Took: Seconds(i % 50)})
	}
	have := sparkline(moments, 49)
	if want := "▁▁▁▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇█▁▁▁▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇█"; have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
	if have := sparkline(moments[:1], 0); have != "▁" {
		t.Errorf("have %s for an attempt that took no time", have)
	}
}
