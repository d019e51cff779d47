package plan

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	cmpdiff "github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
)

const (
	ms      = time.Millisecond
	s       = time.Second
	forever = time.Duration(math.MaxInt64)
)

// take returns the first n of seq.
func take(n int, seq iter.Seq[time.Duration]) []time.Duration {
	var got []time.Duration
	for v := range seq {
		if len(got) == n {
			break
		}
		got = append(got, v)
	}
	return got
}

// times returns the multiples of a unit, which keeps the tables readable.
func times(unit time.Duration, factors ...int64) []time.Duration {
	var waits []time.Duration
	for _, f := range factors {
		waits = append(waits, time.Duration(f)*unit)
	}
	return waits
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// checkWaits compares the first waits of a schedule that is not random.
func checkWaits(t *testing.T, of backoff.Schedule, want []time.Duration) {
	t.Helper()
	if diff := cmpdiff.Diff(want, take(len(want), backoff.Waits(of, nil))); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// The zero value of a number is its default, under each strategy.
func TestWaits_Schedules_zeroMeansDefault(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string][]time.Duration{
		"":          times(ms, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 20000),
		Exponential: times(ms, 100, 200, 400),
		Fixed:       times(ms, 0, 0, 0),
		Linear:      times(ms, 100, 200, 300),
		Fibonacci:   times(ms, 100, 100, 200),
		Polynomial:  times(ms, 300, 1800, 8300, 20000),
	} {
		own, _ := Waits{Strategy: strategy, Jitter: JitterNone}.Schedules()
		checkWaits(t, own, want)
	}
}

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
		{JitterAuto, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{JitterAuto, 1000 * ms, span{800 * ms, 800 * ms}, span{800 * ms, 1000 * ms}},
		{JitterAuto, 300 * ms, span{300 * ms, 300 * ms}, span{300 * ms, 300 * ms}},
		{"", backoff.NoCap, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{JitterNone, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 800 * ms}},
		{JitterFull, 20 * s, span{0, 800 * ms}, span{0, 800 * ms}},
		{JitterFull, 300 * ms, span{0, 300 * ms}, span{0, 300 * ms}},
		{JitterEqual, 300 * ms, span{150 * ms, 300 * ms}, span{150 * ms, 300 * ms}},
		{JitterDecorrelated, 20 * s, span{100 * ms, 8100 * ms}, span{100 * ms, 8100 * ms}},
		{JitterDecorrelated, 300 * ms, span{100 * ms, 300 * ms}, span{100 * ms, 300 * ms}},
	}
	for _, tt := range tests {
		own, throttled := Waits{Jitter: tt.jitter, MaxWait: tt.max}.Schedules()
		fourth := func(schedule backoff.Schedule) (got span) {
			for row := range (backoff.Table{Schedule: schedule, Attempts: 4}).Rows() {
				got = span{row.Min, row.Max}
			}
			return got
		}
		if got := fourth(own); got != tt.own {
			t.Errorf("jitter %q, cap %v: waits %v, want %v", tt.jitter, tt.max, got, tt.own)
		}
		if got := fourth(throttled); got != tt.throttled {
			t.Errorf("jitter %q, cap %v: throttled waits %v, want %v", tt.jitter, tt.max, got, tt.throttled)
		}
	}
}

func TestWaits_Schedules_polynomialSpread(t *testing.T) {
	t.Parallel()
	for jitter, want := range map[string]backoff.Row{
		JitterAuto: {Wait: 19200 * ms, Min: 18 * s, Max: 20400 * ms},
		JitterNone: {Wait: 18 * s, Min: 18 * s, Max: 18 * s},
		JitterFull: {Wait: 9 * s, Min: 0, Max: 18 * s},
	} {
		own, _ := Waits{Strategy: Polynomial, Base: s, MaxWait: backoff.NoCap, Jitter: jitter}.Schedules()
		var got backoff.Row
		for row := range (backoff.Table{Schedule: own, Attempts: 2}).Rows() {
			got = backoff.Row{Wait: row.Wait, Min: row.Min, Max: row.Max}
		}
		if diff := cmpdiff.Diff(want, got); diff != "" {
			t.Errorf("jitter %s (-want +got):\n%s", jitter, diff)
		}
	}
}

// Asked at any step, a schedule answers as when walked there: it depends on
// nothing but the step and the draw. Decorrelated depends on the previous wait.
func TestSchedules_askedDirectly(t *testing.T) {
	t.Parallel()
	for name, c := range configs() {
		if c.Jitter == JitterDecorrelated {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, throttled := c.Schedules()
			for _, schedule := range []backoff.Schedule{own, throttled} {
				step := backoff.Step{}
				for n := range 100 {
					walked := schedule.Wait(step, random(uint64(n)))
					direct := schedule.Wait(backoff.Step{N: n}, random(uint64(n)))
					if walked != direct {
						t.Fatalf("step %d: walked there %v, asked directly %v", n, walked, direct)
					}
					step = backoff.Step{N: n + 1, Elapsed: backoff.Add(step.Elapsed, walked), Previous: walked}
				}
			}
		})
	}
}

func TestWaits_repeatable(t *testing.T) {
	t.Parallel()
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, throttled := c.Schedules()
			for _, schedule := range []backoff.Schedule{own, throttled} {
				want := take(50, backoff.Waits(schedule, random(3)))
				got := take(50, backoff.Waits(schedule, random(3)))
				if diff := cmpdiff.Diff(want, got); diff != "" {
					t.Errorf("same seed, another sequence (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// configs yields every strategy with every jitter, by name.
func configs() iter.Seq2[string, Waits] {
	return func(yield func(string, Waits) bool) {
		for _, strategy := range Strategies() {
			for _, jitter := range Jitters() {
				if !yield(strategy+" "+jitter, Waits{Strategy: strategy, Jitter: jitter}) {
					return
				}
			}
		}
	}
}

func TestSchedules_staysWithinBounds(t *testing.T) {
	t.Parallel()
	bases := []time.Duration{math.MinInt64, -1, 0, 1, 100 * ms, 24 * time.Hour, math.MaxInt64}
	numbers := []float64{math.Inf(-1), -2, 0, 5e-324, 0.5, 1, 2, 1e300, math.Inf(1), math.NaN()}
	limits := []time.Duration{backoff.NoCap, 0, 1, 20 * s, math.MaxInt64}
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, base := range bases {
				for _, number := range numbers {
					for _, limit := range limits {
						c.Base, c.Factor, c.Power, c.MaxWait = base, number, number, limit
						checkBounds(t, c, 60, 1)
					}
				}
			}
			c.Base, c.Factor, c.Power, c.MaxWait = 0, 0, 0, 0
			checkBounds(t, c, 2000, 1)
			c.MaxWait = backoff.NoCap
			checkBounds(t, c, 2000, 1)
		})
	}
}

// checkBounds walks steps waits of c and asks far beyond them.
func checkBounds(t *testing.T, c Waits, steps int, seed uint64) {
	t.Helper()
	limit := cmp.Or(c.MaxWait, backoff.DefaultMaxWait)
	if limit < 0 {
		limit = forever
	}
	check := func(n int, wait time.Duration) {
		if wait < 0 || wait > limit {
			t.Fatalf("%+v: step %d waits %v, want 0 to %v", c, n, wait, limit)
		}
	}
	own, throttled := c.Schedules()
	for _, schedule := range []backoff.Schedule{own, throttled} {
		r := random(seed)
		step := backoff.Step{}
		for n := range steps {
			wait := schedule.Wait(step, r)
			check(n, wait)
			step = backoff.Step{N: n + 1, Elapsed: backoff.Add(step.Elapsed, wait), Previous: wait}
		}
		for _, n := range []int{math.MinInt, -1, math.MaxInt32, math.MaxInt} {
			check(n, schedule.Wait(backoff.Step{N: n, Elapsed: forever, Previous: forever}, r))
		}
	}
}

func FuzzSchedules(f *testing.F) {
	f.Add(uint8(0), uint8(0), int64(100*ms), 2.0, 4.0, int64(20*s), uint64(1))
	f.Add(uint8(0), uint8(2), int64(1), math.MaxFloat64, 0.0, int64(0), uint64(2))
	f.Add(uint8(3), uint8(3), int64(math.MaxInt64), -1.0, -1.0, int64(1), uint64(3))
	f.Add(uint8(4), uint8(0), int64(s), math.NaN(), 1e308, int64(math.MaxInt64), uint64(4))
	f.Add(uint8(4), uint8(4), int64(s), 1.1, math.SmallestNonzeroFloat64, int64(-5), uint64(5))
	f.Fuzz(func(t *testing.T, strategy, jitter uint8, base int64, factor, power float64, limit int64, seed uint64) {
		checkBounds(t, Waits{
			Strategy: Strategies()[int(strategy)%len(Strategies())],
			Base:     time.Duration(base),
			Factor:   factor,
			Power:    power,
			MaxWait:  time.Duration(limit),
			Jitter:   Jitters()[int(jitter)%len(Jitters())],
		}, 2000, seed)
	})
}
