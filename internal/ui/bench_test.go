package ui

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// BenchmarkGroup shows the events of 10,000 targets, each with its own progress. It
// reports events a second, and how many bytes are kept for a target whose look is over.
func BenchmarkGroup(b *testing.B) {
	const targets = 10_000
	for _, face := range []Face{Live, Lines, JSON} {
		b.Run(string(face), func(b *testing.B) {
			s, _, _ := term.Buffers("")
			s.Err = io.Discard
			names := make([]string, targets)
			for i := range names {
				names[i] = jobName(i)
			}
			answer := httpAnswer(200, string(make([]byte, 300)))
			before := heap()
			r := New(Config{Streams: s, Face: face, Targets: targets, Goal: allOf(targets)})
			n, began := 0, time.Now()
			for b.Loop() {
				i := n % targets
				now := time.Now()
				ev := poll.Event{Target: names[i], N: i + 1, State: poll.State{Attempts: n/targets + 1}, At: now, Elapsed: now.Sub(began)}
				ev.Kind = poll.EventWait
				r.Event(ev)
				ev.Kind = poll.EventStart
				r.Event(ev)
				ev.Kind, ev.Observation = poll.EventAttempt, answer
				ev.Verdict = notReady(fmt.Sprintf(".progress is %d, want == 100", n%100))
				r.Event(ev)
				n++
			}
			b.ReportMetric(float64(3*n)/b.Elapsed().Seconds(), "events/s")
			if n >= targets {
				b.ReportMetric(float64(heap()-before)/targets, "B/target")
			}
			r.Close()
		})
	}
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
