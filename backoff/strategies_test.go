package backoff

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/words"
)

// The examples have the waits of Exponential and Polynomial.
func TestStrategies(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
