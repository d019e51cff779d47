package backoff

import (
	"testing"
	"time"
)

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
