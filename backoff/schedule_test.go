package backoff

import (
	"iter"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	ms = time.Millisecond
	s  = time.Second
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
func checkWaits(t *testing.T, of Schedule, want []time.Duration) {
	t.Helper()
	if diff := cmp.Diff(want, take(len(want), Waits(of, nil))); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestCap(t *testing.T) {
	t.Parallel()
	long := Exponential{Base: 8 * s}
	checkWaits(t, Cap{Max: 300 * ms}, times(ms, 100, 200, 300, 300))
	checkWaits(t, Cap{Of: long}, times(s, 8, 16, 20, 20))
	checkWaits(t, Cap{Of: long, Max: NoCap}, times(s, 8, 16, 32, 64))
}

func TestMax(t *testing.T) {
	t.Parallel()
	checkWaits(t, Max(Fixed(300*ms), nil), times(ms, 300, 300, 400, 800))
	checkWaits(t, Max(nil, Fixed(300*ms)), times(ms, 300, 300, 400, 800))
}

func TestThrottled_neverFasterThanPlain(t *testing.T) {
	t.Parallel()
	r := random(1)
	throttled := Throttled(Cap{Max: 20 * s})
	for n := range 12 {
		plain := Cap{Max: 20 * s}.Wait(Step{N: n}, nil)
		longest := min(2*plain, 20*s)
		for range 200 {
			got := throttled.Wait(Step{N: n}, r)
			if got < max(plain, longest/2) || got > longest {
				t.Fatalf("step %d: waited %v, want %v to %v", n, got, max(plain, longest/2), longest)
			}
		}
	}
}

func TestThrottled_keepsTheBoundUnderAJitter(t *testing.T) {
	t.Parallel()
	capped := Cap{Max: 20 * s}
	for _, schedule := range []Schedule{
		Full{Of: capped}, Equal{Of: capped}, Cap{Of: Full{Of: capped}, Max: NoCap}, Max(Full{Of: capped}, Cap{Max: ms}),
	} {
		r := random(1)
		var longest time.Duration
		for range 200 {
			longest = max(longest, Throttled(schedule).Wait(Step{N: 30}, r))
		}
		if longest < 19*s || longest > 20*s {
			t.Errorf("%T: the longest of 200 waits was %v, want nearly 20s", schedule, longest)
		}
	}
}

func TestThrottled_ofNothing(t *testing.T) {
	t.Parallel()
	want := Throttled(Exponential{}).Wait(Step{N: 2}, random(1))
	if got := Throttled(nil).Wait(Step{N: 2}, random(1)); got != want {
		t.Errorf("waits %v, want that of Exponential{}, %v", got, want)
	}
}

func TestScheduleFunc(t *testing.T) {
	t.Parallel()
	falling := ScheduleFunc(func(step Step, _ *rand.Rand) time.Duration {
		return 2*s - time.Duration(step.N)*s - step.Previous/2
	})
	checkWaits(t, falling, times(ms, 2000, 0, 0, 0))
}

func TestAdd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ a, b, want time.Duration }{
		{0, 0, 0},
		{s, ms, s + ms},
		{forever - 1, 1, forever},
		{forever, 1, forever},
		{1, forever, forever},
		{forever, forever, forever},
	} {
		if got := Add(tt.a, tt.b); got != tt.want {
			t.Errorf("Add(%d, %d) = %d, want %d", tt.a, tt.b, got, tt.want)
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
			own, throttled := c.schedules()
			for _, schedule := range []Schedule{own, throttled} {
				step := Step{}
				for n := range 100 {
					walked := schedule.Wait(step, random(uint64(n)))
					direct := schedule.Wait(Step{N: n}, random(uint64(n)))
					if walked != direct {
						t.Fatalf("step %d: walked there %v, asked directly %v", n, walked, direct)
					}
					step = step.next(walked)
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
			own, throttled := c.schedules()
			for _, schedule := range []Schedule{own, throttled} {
				want := take(50, Waits(schedule, random(3)))
				got := take(50, Waits(schedule, random(3)))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("same seed, another sequence (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestWaits_rangingTwiceRestarts(t *testing.T) {
	t.Parallel()
	waits := Waits(Exponential{}, nil)
	first, second := take(5, waits), take(5, waits)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("second walk (-first +second):\n%s", diff)
	}
	// With chance in it the second walk starts at the first step again too,
	// with other draws.
	jittered := Waits(Full{}, random(1))
	for range 20 {
		if first := take(1, jittered)[0]; first > 100*ms {
			t.Fatalf("a walk starts with %v, want at most 100ms", first)
		}
	}
}

// configs yields every strategy with every jitter, by name.
func configs() iter.Seq2[string, Config] {
	return func(yield func(string, Config) bool) {
		for _, strategy := range Strategies() {
			for _, jitter := range Jitters() {
				if !yield(string(strategy)+" "+string(jitter), Config{Strategy: strategy, Jitter: jitter}) {
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
	limits := []time.Duration{NoCap, 0, 1, 20 * s, math.MaxInt64}
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
			c.MaxWait = NoCap
			checkBounds(t, c, 2000, 1)
		})
	}
}

// checkBounds walks steps waits of c and asks far beyond them.
func checkBounds(t *testing.T, c Config, steps int, seed uint64) {
	t.Helper()
	limit := Cap{Max: c.MaxWait}.limit()
	check := func(n int, wait time.Duration) {
		if wait < 0 || wait > limit {
			t.Fatalf("%+v: step %d waits %v, want 0 to %v", c, n, wait, limit)
		}
	}
	own, throttled := c.schedules()
	for _, schedule := range []Schedule{own, throttled} {
		r := random(seed)
		step := Step{}
		for n := range steps {
			wait := schedule.Wait(step, r)
			check(n, wait)
			step = step.next(wait)
		}
		for _, n := range []int{math.MinInt, -1, math.MaxInt32, math.MaxInt} {
			check(n, schedule.Wait(Step{N: n, Elapsed: forever, Previous: forever}, r))
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
		checkBounds(t, Config{
			Strategy: Strategies()[int(strategy)%len(Strategies())],
			Base:     time.Duration(base),
			Factor:   factor,
			Power:    power,
			MaxWait:  time.Duration(limit),
			Jitter:   Jitters()[int(jitter)%len(Jitters())],
		}, 2000, seed)
	})
}

func TestImports(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go here")
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("list imports: %v", err)
	}
	if got, want := strings.TrimSpace(string(out)), "github.com/pollcli/poll/backoff"; got != want {
		t.Errorf("depends on %q outside of the standard library, want none but itself", got)
	}
}
