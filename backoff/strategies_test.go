package backoff

import (
	"iter"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/words"
)

// The examples have the waits of Exponential and Polynomial.
func TestStrategies(t *testing.T) {
	for name, tt := range map[string]struct {
		of   Schedule
		want []time.Duration
	}{
		"linear":                   {Linear{}, times(ms, 100, 200, 300, 400)},
		"fibonacci":                {Fibonacci{}, times(ms, 100, 100, 200, 300, 500, 800, 1300, 2100, 3400, 5500)},
		"polynomial":               {Polynomial{Power: 2}, times(ms, 300, 600, 1100, 1800)},
		"fixed":                    {Fixed(5 * s), times(s, 5, 5, 5)},
		"fixed below nothing":      {Fixed(-s), times(s, 0, 0)},
		"a cap":                    {Cap(nil, 300*ms), times(ms, 100, 200, 300, 300)},
		"the default cap":          {Cap(Exponential{Base: 8 * s}, 0), times(s, 8, 16, 20, 20)},
		"no cap":                   {Cap(Exponential{Base: 8 * s}, -1), times(s, 8, 16, 32, 64)},
		"the longer of two":        {Max(Fixed(300*ms), nil), times(ms, 300, 300, 400, 800)},
		"the longer of two others": {Max(nil, Fixed(300*ms)), times(ms, 300, 300, 400, 800)},
	} {
		if diff := cmp.Diff(tt.want, take(len(tt.want), Waits(tt.of, nil))); diff != "" {
			t.Errorf("%s: waits (-want +got):\n%s", name, diff)
		}
	}
}

func TestFibonacci_isExact(t *testing.T) {
	a, b := int64(1), int64(1)
	for n := range 91 {
		got := Fibonacci{Base: 1}.Wait(Step{N: n}, nil)
		if math.Abs(float64(got)-float64(a)) > 1e-15*float64(a) {
			t.Errorf("step %d: got %d, want %d", n, got, a)
		}
		a, b = b, a+b
	}
}

func TestExponential_isMathPow(t *testing.T) {
	for _, factor := range []float64{0.3, 1, 1.000001, 1.1, 1.5, math.Phi, 2, 3, 1e10, math.Inf(1)} {
		for n := range 1100 {
			want := words.Nanoseconds(1e9 * math.Pow(factor, float64(n)))
			if got := (Exponential{Base: s, Factor: factor}).Wait(Step{N: n}, nil); got != want {
				t.Fatalf("%v^%d s = %v, want %v", factor, n, got, want)
			}
		}
	}
}

// Random waits lie between bounds, and nearly reach them. Their mean is in the middle.
func TestJitters(t *testing.T) {
	for name, tt := range map[string]struct {
		of        Schedule
		low, high time.Duration // of the wait at step 2, after one of 200 ms
	}{
		"full":         {Full(nil), 0, 400 * ms},
		"equal":        {Equal(nil), 200 * ms, 400 * ms},
		"decorrelated": {Decorrelated{}, 100 * ms, 600 * ms},
		"from a base":  {Decorrelated{Base: s}, s, 3 * s},
		"throttled":    {Throttled(Cap(nil, 20*s)), 400 * ms, 800 * ms},
		"near its cap": {Throttled(Cap(nil, 500*ms)), 400 * ms, 500 * ms},
		"at its cap":   {Throttled(Cap(nil, 300*ms)), 300 * ms, 300 * ms},
		"rails":        {Polynomial{Base: s, Spread: 0.15}, 83 * s, 95150 * ms},
	} {
		const draws = 10_000
		r := random(1)
		shortest, longest, mean := words.Longest, time.Duration(0), time.Duration(0)
		for range draws {
			wait := tt.of.Wait(Step{N: 2, Previous: 200 * ms}, r)
			shortest, longest, mean = min(shortest, wait), max(longest, wait), mean+wait/draws
		}
		near := (tt.high - tt.low) / 50
		if shortest < tt.low || shortest > tt.low+near || longest > tt.high || longest < tt.high-near || (mean-(tt.low+tt.high)/2).Abs() > near {
			t.Errorf("%s: waits from %v to %v, %v in the mean, want %v to %v", name, shortest, longest, mean, tt.low, tt.high)
		}
	}
}

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

// Each refusal doubles a constant wait up to its bound, and leaves a growing one alone.
func TestThrottledWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		schedule Schedule
		want     []time.Duration
	}{
		"up to the cap":            {Cap(Fixed(s), 5*s), times(s, 1, 2, 4, 5, 5)},
		"without a cap":            {Fixed(3 * s), times(s, 3, 6, 12, 20, 20)},
		"twice, if that is longer": {Fixed(15 * s), times(s, 15, 30, 30, 30, 30)},
		"with no bound":            {Cap(Fixed(s), -1), times(s, 1, 2, 4, 8, 16)},
		"longer than the cap":      {Cap(Fixed(9*s), 5*s), times(s, 5, 5, 5, 5, 5)},
		"the outermost cap":        {Cap(Cap(Fixed(s), 3*s), -1), times(s, 1, 2, 3, 3, 3)},
		"no wait":                  {Fixed(0), times(s, 0, 0, 0, 0, 0)},
		"a factor of 1":            {Exponential{Base: s, Factor: 1}, times(s, 1, 2, 4, 8, 16)},
		"exponential":              {Exponential{Base: s}, times(s, 1, 1, 1, 1, 1)},
		"the longer of two":        {Max(Fixed(s), Fixed(3*s)), times(s, 3, 6, 12, 20, 20)},
		"a jitter around it":       {Equal(Cap(Fixed(s), 5*s)), times(s/2, 1, 2, 4, 5, 5)},
		"throttled":                {Throttled(Cap(Fixed(s), 5*s)), times(s, 1, 2, 4, 5, 5)},
		"throttled, without a cap": {Throttled(Fixed(3 * s)), times(s, 3, 6, 12, 20, 20)},
		"throttled, with a jitter": {Throttled(Equal(Cap(Fixed(s), 5*s))), times(s/2, 1, 2, 4, 5, 5)},
	} {
		for refusals, want := range tt.want {
			least := rand.New(zeros{})
			if got := tt.schedule.Wait(Step{Refusals: refusals}, least); got != want {
				t.Errorf("%s: after %d refusals it waits %v, want at least %v", name, refusals, got, want)
			}
		}
		if got := tt.schedule.Wait(Step{Refusals: 1 << 30}, rand.New(zeros{})); got < tt.want[4] {
			t.Errorf("%s: after many refusals it waits %v", name, got)
		}
	}
}

// zeros is a source of the least numbers.
type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

func TestThrottled_keepsTheBoundUnderAJitter(t *testing.T) {
	capped := Cap(nil, 20*s)
	for i, schedule := range []Schedule{
		Full(capped), Equal(capped), Cap(Full(capped), -1), Max(Full(capped), Cap(nil, ms)),
	} {
		r := random(1)
		var longest time.Duration
		for range 200 {
			longest = max(longest, Throttled(schedule).Wait(Step{N: 30}, r))
		}
		if longest < 19*s || longest > 20*s {
			t.Errorf("schedule %d: the longest of 200 waits was %v, want nearly 20s", i, longest)
		}
	}
}

func TestWaits_rangingTwiceRestarts(t *testing.T) {
	waits := Waits(Exponential{}, nil)
	first, second := take(5, waits), take(5, waits)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("second walk (-first +second):\n%s", diff)
	}
	// With chance in it the second walk starts at the first step again too,
	// with other draws.
	jittered := Waits(Full(nil), random(1))
	for range 20 {
		if first := take(1, jittered)[0]; first > 100*ms {
			t.Fatalf("a walk starts with %v, want at most 100ms", first)
		}
	}
}
