package learn_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/words"
)

// FuzzFit reads runs from bytes. Whatever the runs and the options are, the schedule always has a next attempt,
// and the forecast is a distribution.
func FuzzFit(f *testing.F) {
	for _, runs := range absurd() {
		var text []byte
		for _, r := range runs {
			text = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(text, uint64(r.Lo)), uint64(r.Hi))
		}
		for _, share := range []float64{0, 1e-302, math.Inf(1), math.NaN(), -1} {
			f.Add(text, share, int64(0), int64(0), int64(0), int64(0))
		}
		f.Add(text, 0.0, int64(1), int64(1), int64(1), int64(math.MaxInt64))
		f.Add(text, 0.0, int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MinInt64))
		f.Add(text, 0.0, int64(time.Millisecond), int64(2*time.Second), int64(5*time.Second), int64(0))
		f.Add(text, 0.0, int64(0), int64(5*time.Second), int64(2*time.Second), int64(0))
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
		for elapsed := time.Duration(0); elapsed < math.MaxInt64; elapsed = words.Sum(2*min(elapsed, math.MaxInt64/2), 1) {
			wait := m.Wait(backoff.Step{Elapsed: elapsed}, nil)
			if wait < least || o.MaxWait > 0 && wait > max(o.MaxWait, least) {
				t.Fatalf("%+v, %+v: the wait at %v is %v", runs, o, elapsed, wait)
			}
			if done := m.Done(elapsed); !(done >= 0 && done <= 1) {
				t.Fatalf("%+v: done by %v: %v", runs, elapsed, done)
			}
		}
		checkForecast(t, m)
	})
}

// A share outside the limits counts as the nearest limit, and never as the default.
func TestCost_clamped(t *testing.T) {
	for _, test := range []struct{ absurd, nearest float64 }{{1e-300, 1e-5}, {1e300, 1e6}, {math.Inf(1), 1e6}} {
		have := ages(fit(t, known(60, 70), learn.Options{CostShare: test.absurd}), 5)
		want := ages(fit(t, known(60, 70), learn.Options{CostShare: test.nearest}), 5)
		if !slices.Equal(have, want) {
			t.Errorf("a share of %v: attempts at %v, want those of %v, %v", test.absurd, have, test.nearest, want)
		}
	}
}

// A run with a Hi below its Lo counts as a run of known duration.
func TestRun_upsideDown(t *testing.T) {
	have := fit(t, []learn.Run{{Lo: 10 * time.Second, Hi: time.Second}}, learn.Options{}).Quantile(0.5)
	if want := fit(t, known(10), learn.Options{}).Quantile(0.5); have != want {
		t.Errorf("half of such runs end by %v, want %v", have, want)
	}
}

// absurd returns strange histories. Their schedules must always have a next attempt.
func absurd() [][]learn.Run {
	outlier := slices.Repeat([]float64{10}, 100)
	return [][]learn.Run{
		known(10),
		known(10, 12),
		known(slices.Repeat([]float64{10}, 100)...),
		known(append(slices.Clone(outlier), 1e9)...),
		known(append(slices.Clone(outlier), 1e-9)...),
		known(append([]float64{1e9}, outlier[:99]...)...),
		known(0),
		known(slices.Repeat([]float64{0}, 100)...),
		known(0, 1e9, 0, 1e9, 0, 1e9),
		known(1e9),
		known(9.3e9),
		known(1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9),
		{{Lo: -5 * time.Second, Hi: -time.Second}},
		{{Lo: 10 * time.Second, Hi: time.Second}},
		slices.Repeat([]learn.Run{{Hi: 10 * time.Second}}, 30),
		append(known(1, 1, 1), learn.Run{Hi: math.MaxInt64}),
		{{Lo: math.MinInt64, Hi: math.MaxInt64}, {Lo: math.MaxInt64, Hi: math.MinInt64}},
		{{Lo: math.MaxInt64, Hi: -1}, {Lo: 1 << 56, Hi: -1}, {}}, // the first two have a Hi below their Lo
	}
}

// checkForecast checks that quantiles grow with p, and that Done is the inverse of Quantile.
func checkForecast(t *testing.T, m *learn.Model) {
	t.Helper()
	var last time.Duration
	for p := -0.5; p <= 1.5; p += 0.02 {
		q := m.Quantile(p)
		if q < last {
			t.Fatalf("quantile %.2f = %v, below %v", p, q, last)
		}
		last = q
		if done := m.Done(q); p > 0 && p < 1 && q > 10*time.Microsecond && q < 1e18 && math.Abs(done-p) > 1e-3 {
			t.Errorf("done by quantile %.2f = %v: %v", p, q, done)
		}
	}
}
