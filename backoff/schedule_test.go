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

// Each refusal doubles a constant wait up to its bound, and leaves a growing one alone.
func TestRefusals(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
