package learn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
)

// A spread schedule makes as many polls as the model, each between the model's
// and the one after it.
func TestSpread(t *testing.T) {
	t.Parallel()
	m := fit(t, known(around(1, 30, 60, 0.2)...), learn.Options{Base: 100 * time.Millisecond})
	plain := ages(m, 20)
	r := rand.New(rand.NewPCG(1, 2))
	first := map[time.Duration]bool{}
	for range 50 {
		var have []time.Duration
		var at time.Duration
		for wait := range backoff.Waits(m.Spread(1), r) {
			if at += wait; len(have) == 19 {
				break
			}
			have = append(have, at)
		}
		first[have[0]] = true
		for i, age := range have {
			// A poll that nearly fell on the next one is the next one.
			j, _ := slices.BinarySearch(plain, age+time.Microsecond)
			if j-1 < i || i == 0 && j != 1 {
				t.Fatalf("poll %d comes at %v, polls of the model are at %v", i+1, age, plain)
			}
		}
	}
	if len(first) < 50 {
		t.Errorf("50 runs begin in %d ways", len(first))
	}
}

func TestSpread_limits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const base, most = time.Second, 3 * time.Second
	bounded := fit(t, known(60, 61), learn.Options{Base: base, MaxWait: most})
	for wait := range backoff.Waits(bounded.Spread(1), r) {
		if wait < base || wait > most {
			t.Fatalf("a wait of %v, want %v to %v", wait, base, most)
		}
		if wait != most {
			break
		}
	}
	m := fit(t, known(1), learn.Options{})
	for _, elapsed := range []time.Duration{math.MinInt64, 0, time.Hour, math.MaxInt64} {
		step := backoff.Step{Elapsed: elapsed}
		if have, least := m.Spread(1).Wait(step, r), m.Wait(step, r); have < least {
			t.Errorf("after %v: a wait of %v, the model's is %v", elapsed, have, least)
		}
		if have, want := m.Spread(-1).Wait(step, r), m.Wait(step, r); have != want {
			t.Errorf("after %v, not spread: a wait of %v, want %v", elapsed, have, want)
		}
	}
}
