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
