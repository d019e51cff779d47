package commands

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/cli/read"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// The bounds of the fourth wait, 800ms without jitter, after NOT_READY and after
// THROTTLED.
func TestWaits_Schedules(t *testing.T) {
	t.Parallel()
	type span struct{ low, high time.Duration }
	tests := []struct {
		jitter         string
		max            time.Duration
		own, throttled span
	}{
		{read.JitterAuto, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{read.JitterAuto, 1000 * ms, span{800 * ms, 800 * ms}, span{800 * ms, 1000 * ms}},
		{read.JitterAuto, 300 * ms, span{300 * ms, 300 * ms}, span{300 * ms, 300 * ms}},
		{"", read.NoCap, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{read.JitterNone, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 800 * ms}},
		{read.JitterFull, 20 * s, span{0, 800 * ms}, span{0, 800 * ms}},
		{read.JitterFull, 300 * ms, span{0, 300 * ms}, span{0, 300 * ms}},
		{read.JitterEqual, 300 * ms, span{150 * ms, 300 * ms}, span{150 * ms, 300 * ms}},
		{read.JitterDecorrelated, 20 * s, span{100 * ms, 8100 * ms}, span{100 * ms, 8100 * ms}},
		{read.JitterDecorrelated, 300 * ms, span{100 * ms, 300 * ms}, span{100 * ms, 300 * ms}},
	}
	for _, tt := range tests {
		own, throttled := read.Waits{Jitter: tt.jitter, MaxWait: tt.max}.Schedules()
		fourth := func(schedule backoff.Schedule) span {
			rows, err := table{schedule: schedule, attempts: 4}.rows()
			if err != nil {
				t.Fatal(err)
			}
			return span{rows[3].Min, rows[3].Max}
		}
		if got := fourth(own); got != tt.own {
			t.Errorf("jitter %q, cap %v: waits %v, want %v", tt.jitter, tt.max, got, tt.own)
		}
		if got := fourth(throttled); got != tt.throttled {
			t.Errorf("jitter %q, cap %v: throttled waits %v, want %v", tt.jitter, tt.max, got, tt.throttled)
		}
	}
}

// With every jitter, each rejection doubles an interval up to the longest wait. The test draws the greatest
// random numbers, so that it sees the upper bounds of the waits.
func TestWaits_refusals(t *testing.T) {
	t.Parallel()
	interval := s
	for _, jitter := range []string{read.JitterAuto, read.JitterNone, read.JitterFull, read.JitterEqual} {
		own, throttled := read.Waits{Interval: &interval, MaxWait: 5 * s, Jitter: jitter}.Resolved(s, 20*s).Schedules()
		for refusals, want := range []time.Duration{1 * s, 2 * s, 4 * s, 5 * s, 5 * s} {
			after, again := backoff.Step{Refusals: refusals}, backoff.Step{Refusals: refusals - 1}
			if got := own.Wait(after, most()); got != want {
				t.Errorf("%s: %d refusals: waits %v, want %v", jitter, refusals, got, want)
			}
			if refusals == 0 {
				continue
			}
			if got := throttled.Wait(again, most()); got != want {
				t.Errorf("%s: after refusal %d: waits %v, want %v", jitter, refusals, got, want)
			}
		}
	}
}

// most returns random numbers that are all the greatest.
func most() *rand.Rand { return rand.New(greatest{}) }

type greatest struct{}

func (greatest) Uint64() uint64 { return math.MaxUint64 }

// Waits are within their bounds for all parameters and steps.
func FuzzSchedules(f *testing.F) {
	f.Add(int64(100*ms), 2.0, 4.0, int64(20*s), uint64(1))
	for _, number := range []float64{math.Inf(-1), -2, 0, 5e-324, 0.5, 1, 1e300, math.Inf(1), math.NaN()} {
		for _, limit := range []int64{-1, 0, 1, math.MaxInt64} {
			for _, base := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
				f.Add(base, number, number, limit, uint64(2))
			}
		}
	}
	f.Fuzz(func(t *testing.T, base int64, factor, power float64, limit int64, seed uint64) {
		for _, strategy := range read.Strategies() {
			for _, jitter := range read.Jitters() {
				checkBounds(t, read.Waits{
					Strategy: strategy, Jitter: jitter, Base: time.Duration(base), Factor: factor, Power: power, MaxWait: time.Duration(limit),
				}, seed)
			}
		}
	})
}

// checkBounds checks many waits of w, also for very late steps.
func checkBounds(t *testing.T, w read.Waits, seed uint64) {
	t.Helper()
	limit := cmp.Or(w.MaxWait, backoff.DefaultMaxWait)
	if limit < 0 {
		limit = math.MaxInt64
	}
	check := func(n int, wait time.Duration) {
		if wait < 0 || wait > limit {
			t.Fatalf("%+v: step %d waits %v, want 0 to %v", w, n, wait, limit)
		}
	}
	own, throttled := w.Schedules()
	for _, schedule := range []backoff.Schedule{own, throttled} {
		r := rand.New(rand.NewPCG(seed, 0))
		n := 0
		for wait := range backoff.Waits(schedule, r) {
			check(n, wait)
			if n++; n == 200 {
				break
			}
		}
		for _, n := range []int{math.MinInt, -1, math.MaxInt32, math.MaxInt} {
			check(n, schedule.Wait(backoff.Step{N: n, Elapsed: math.MaxInt64, Previous: math.MaxInt64}, r))
		}
	}
}
