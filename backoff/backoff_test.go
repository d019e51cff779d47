package backoff

import (
	"iter"
	"math/rand/v2"
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

func TestWaits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		of   Schedule
		want []time.Duration
	}{
		{"AWS pseudocode", Exponential{}, times(ms, 100, 200, 400, 800, 1600)},
		{"capped", Cap{Max: 300 * ms}, times(ms, 100, 200, 300, 300, 300)},
		{"cap of 0 is none", Cap{Of: Exponential{Base: s}}, times(s, 1, 2, 4, 8, 16)},
		{"fixed", Fixed(5 * s), times(s, 5, 5, 5)},
		{"fixed at nothing", Fixed(0), times(s, 0, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := take(len(tt.want), Waits(tt.of, nil))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
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
