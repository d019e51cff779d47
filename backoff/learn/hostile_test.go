package learn_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/duration"
)

// FuzzFit reads runs from bytes. Whatever they are, and whatever the options, the
// schedule goes on.
func FuzzFit(f *testing.F) {
	zeros := make([]byte, 3*16)
	longest := binary.LittleEndian.AppendUint64(nil, math.MaxInt64)
	mixed := slices.Concat(zeros, longest, longest, zeros, zeros[:8], longest)
	given := slices.Concat(longest, slices.Repeat([]byte{0xff}, 8), zeros[:15], []byte{1}, slices.Repeat([]byte{0xff}, 8), zeros)
	for _, runs := range [][]byte{zeros, slices.Repeat(longest, 4), mixed, given} {
		for _, share := range []float64{0, 0.05, 1e-302, 5e-324, 1e-7, 1e9, math.MaxFloat64, math.Inf(1), math.NaN(), -1} {
			f.Add(runs, share, int64(0), int64(0), int64(0), int64(0))
		}
		f.Add(runs, 0.0, int64(1), int64(1), int64(1), int64(math.MaxInt64))
		f.Add(runs, 0.0, int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MinInt64))
	}
	f.Fuzz(func(t *testing.T, text []byte, share float64, delay, base, most, age int64) {
		var runs []learn.Run
		for pair := range slices.Chunk(text, 16) {
			if len(pair) == 16 {
				run := learn.Run{
					Lo: time.Duration(binary.LittleEndian.Uint64(pair)),
					Hi: time.Duration(binary.LittleEndian.Uint64(pair[8:])),
				}
				run.Unfinished = run.Hi == -1
				runs = append(runs, run)
			}
		}
		if !slices.ContainsFunc(runs, func(r learn.Run) bool { return !r.Unfinished }) {
			t.Skip("nothing to learn from")
		}
		o := learn.Options{
			CostShare: share, Cost: time.Duration(delay),
			Base: time.Duration(base), MaxWait: time.Duration(most), Age: time.Duration(age),
		}
		m := fit(t, runs, o)
		least := max(o.Base, time.Microsecond)
		for elapsed := time.Duration(0); elapsed < math.MaxInt64; elapsed = duration.Add(2*min(elapsed, math.MaxInt64/2), 1) {
			wait := m.Wait(backoff.Step{Elapsed: elapsed}, nil)
			if wait < least || o.MaxWait > 0 && wait > max(o.MaxWait, least) {
				t.Fatalf("%+v, %+v: the wait at %v is %v", runs, o, elapsed, wait)
			}
			if done := m.Done(elapsed); !(done >= 0 && done <= 1) {
				t.Fatalf("%+v: done by %v: %v", runs, elapsed, done)
			}
		}
	})
}

// Shares without measure count as the nearest that makes sense, and never as the
// default.
func TestCost_clamped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ absurd, nearest float64 }{{1e-300, 1e-5}, {1e300, 1e6}, {math.Inf(1), 1e6}} {
		have := ages(fit(t, known(60, 70), learn.Options{CostShare: test.absurd}), 5)
		want := ages(fit(t, known(60, 70), learn.Options{CostShare: test.nearest}), 5)
		if !slices.Equal(have, want) {
			t.Errorf("a share of %v: attempts at %v, want those of %v, %v", test.absurd, have, test.nearest, want)
		}
	}
}
