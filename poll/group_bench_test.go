package poll_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// BenchmarkGroup measures what a group adds to an attempt: 1,000 targets whose probes do
// nothing.
func BenchmarkGroup(b *testing.B) {
	busy := errors.New("busy")
	probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		return poll.Observe(ctx, nil, busy)
	})
	const targets = 1000
	b.ReportAllocs()
	g := poll.Group{}
	all := func(yield func(poll.Poller) bool) {
		p := poll.Poller{Probe: probe, Schedule: backoff.Fixed(0), MaxAttempts: max(1, b.N/targets)}
		for range targets {
			if !yield(p) {
				return
			}
		}
	}
	summary, _ := g.Run(b.Context(), all)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(summary.Attempts), "ns/attempt")
}
