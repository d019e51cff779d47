package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// BenchmarkWriteTarget writes the line of an element that was not done in time.
func BenchmarkWriteTarget(b *testing.B) {
	s, _, _ := term.Buffers("")
	s.Out = io.Discard
	body := fmt.Appendf(nil, `{"id": 4711, "state": "running", "note": "%s"}`, strings.Repeat("x", 240))
	o := failure(httpAnswer(200, string(body)))
	o.Ending, o.Status, o.Target = poll.TimedOut, status.NotReady, "4711"
	o.Reason = `timed out after 4s; last: .state is "running", want == "done"`
	o.Observation.Within, o.Observation.Presence = expr.NewDoc([]byte(`[]`)), status.Present
	out := Output{PerTarget: true, Lost: func(err error) { b.Error(err) }}
	r := New(Config{Streams: s, Face: None, Goal: "all"})
	b.ReportAllocs()
	for n := 1; b.Loop(); n++ {
		if err := r.WriteTarget(n, out.Settle(o), 124); err != nil {
			b.Fatal(err)
		}
	}
}
