package poll_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// listOf returns a list of n jobs of about 280 bytes each.
func listOf(n int, state string) []byte {
	var b strings.Builder
	b.WriteString(`{"jobs":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"job-%06d","owner":{"name":"somebody","team":"platform"},"created_at":"2026-11-21T08:00:00Z",`+
			`"image":"registry.example.com/team/app@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",`+
			`"labels":["nightly","arm64"],"state":%q,"progress":{"done":17,"total":40}}`, i, state)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// BenchmarkList judges the elements of a list of 5,000, of which all or none have changed
// since the last look.
func BenchmarkList(b *testing.B) {
	const n = 5000
	for _, changes := range []bool{true, false} {
		name := "unchanged"
		if changes {
			name = "changed"
		}
		b.Run(name, func(b *testing.B) {
			lists := [2][]byte{listOf(n, "running"), listOf(n, "waiting")}
			each, err := expr.CompileEach(".jobs")
			if err != nil {
				b.Fatal(err)
			}
			done, _ := status.NewRule(status.Success, `.state=="done"`)
			failed, _ := status.NewRule(status.Error, `.state=="failed"`)
			looks := 0
			probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				looks++
				if looks == 2 {
					b.ResetTimer()
				}
				list := lists[0]
				if changes {
					list = lists[looks%2]
				}
				return poll.Observe(ctx, list, nil)
			})
			p := poll.Poller{
				Probe: probe, Elements: &poll.Elements{Each: each}, Schedule: backoff.Fixed(0), MaxAttempts: b.N + 1,
				Rules: status.Rules{Own: []status.Rule{done, failed}},
			}
			b.ReportAllocs()
			for ev := range (&poll.Group{}).Events(b.Context(), slices.Values([]poll.Poller{p})) {
				if ev.Kind == poll.EventAttempt && looks == b.N+1 {
					b.StopTimer()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
		})
	}
}

// A look at ten times as many elements takes ten times as much memory, not a hundred times.
func TestListGrowsEvenly(t *testing.T) {
	each, err := expr.CompileEach(".jobs")
	if err != nil {
		t.Fatal(err)
	}
	done, _ := status.NewRule(status.Success, `.state=="done"`)
	taken := func(n int) uint64 {
		list := listOf(n, "running")
		p := poll.Poller{
			Probe:    poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation { return poll.Observe(ctx, list, nil) }),
			Elements: &poll.Elements{Each: each}, Schedule: backoff.Fixed(0), MaxAttempts: 3,
			Rules: status.Rules{Own: []status.Rule{done}},
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range (&poll.Group{}).Events(t.Context(), slices.Values([]poll.Poller{p})) {
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := taken(1000), taken(10000); many > 15*few {
		t.Errorf("1,000 elements take %d bytes, 10,000 take %d", few, many)
	}
}
