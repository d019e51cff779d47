package report

import (
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
)

// slowly records n attempts, each twice as long as the one before.
func slowly(n int) *recording {
	r := newRecording(jobURL, time.Minute, 0)
	for i := range n {
		r.wait(time.Second, nil).attempt(notReady("HTTP 503"), httpAnswer(503, "busy"))
		r.events[len(r.events)-1].Took = time.Millisecond << min(i, 12)
	}
	return r
}

func TestLatency(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config  Config
		events  []poll.Event
		want    string
		wantNot string
	}{
		"a log": {events: slowly(4).end(poll.Outcome{Ending: poll.TimedOut}),
			want: "poll: latency: 1ms to 8ms, median 2ms\n", wantNot: "▁"},
		"a terminal": {config: Config{Face: Live}, events: slowly(4).end(poll.Outcome{Ending: poll.TimedOut}),
			want: "poll: latency: 1ms to 8ms, median 2ms  ▁▂▄█\n"},
		"one attempt": {events: slowly(1).end(poll.Outcome{Ending: poll.TimedOut}), wantNot: "latency"},
		"the middle of many": {events: slowly(600).end(poll.Outcome{Ending: poll.TimedOut}),
			want: "poll: latency of the last 450 attempts: 4.1s\n"},
		"success":          {events: slowly(2).end(poll.Outcome{Ending: poll.Succeeded}), wantNot: "latency"},
		"success, with -v": {config: Config{Verbose: true}, events: slowly(2).end(poll.Outcome{Ending: poll.Succeeded}), want: "poll: latency: 1ms to 2ms, median 1ms\n"},
		"a command":        {events: recordings()["exhausted"], wantNot: "latency"},
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

func TestLatency_json(t *testing.T) {
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
	want := `"latency":{"min_s":0.001,"median_s":0.002,"max_s":0.004},`
	if !strings.Contains(out.String(), want) {
		t.Errorf("have %s\nwant %s in it", out, want)
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
