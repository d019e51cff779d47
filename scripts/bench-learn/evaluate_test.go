package main

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pollcli/poll/backoff/learn"
)

// What the learner costs on real runs, from the first on. A change for the
// worse is a defect; one for the better, a reason to change the figures.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	tr, err := openTrace("testdata/linkerd.csv")
	if err != nil {
		t.Fatal(err)
	}
	for share, want := range map[float64]result{
		0.01: {
			aws: 54.75, geometric: 71.74, fixed: 12.68, exact: 8.47, told: 8.49, defaults: 8.43, optimum: 5.59,
			polls: 4.41, delay: 4.02,
		},
		0.05: {
			aws: 260.05, geometric: 338.25, fixed: 24.10, exact: 18.65, told: 19.42, defaults: 19.44, optimum: 14.35,
			polls: 2.33, delay: 7.76,
		},
	} {
		have, err := evaluate(tr, share)
		if err != nil {
			t.Fatal(err)
		}
		near := cmpopts.EquateApprox(0.01, 0.005)
		if diff := cmp.Diff(want, have, near, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("a poll worth %v of the median (-want +got)\n%s", share, diff)
		}
	}
}

func TestOptimum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		durations []float64
		poll      float64
		want      float64
	}{
		{[]float64{10}, 1, 1},
		{[]float64{10, 10, 10}, 1, 3},
		{[]float64{10, 20}, 1, 3},        // a poll at each
		{[]float64{20, 10}, 11, 32},      // one poll at 20: 22 + 10
		{[]float64{1, 2, 100}, 0.1, 0.6}, // a poll at each
		{[]float64{1, 2, 100}, 1.5, 7},   // at 2 and 100: 3 + 1 + ...
	} {
		if have := optimum(c.durations, c.poll); math.Abs(have-c.want) > 1e-9 {
			t.Errorf("optimum of %v at %v = %v, want %v", c.durations, c.poll, have, c.want)
		}
	}
}

// What a run has taught is known once its wait has ended, not when the run began, and not
// when it ended itself.
func TestWalk_knowsOnlyWhatHasEnded(t *testing.T) {
	t.Parallel()
	l := learner{options: learn.Options{Cost: learn.Cost{Delay: time.Second}}}
	walk := func(starts ...float64) float64 {
		s, err := l.walk(series{starts: starts, durations: []float64{100, 100, 100}})
		if err != nil {
			t.Fatal(err)
		}
		return s.polls
	}
	seen := follow(aws, []float64{100})
	ended := 100 + seen.delay
	counted, after, during := walk(1, 2, 3), walk(1e9, 1e9+1000, 1e9+2000), walk(1e9, 1e9+ended-1, 1e9+ended-0.5)
	if counted != after {
		t.Errorf("runs that are counted take %v polls, runs after each other %v", counted, after)
	}
	if during != 2*seen.polls {
		t.Errorf("runs that began before the first was seen to end take %v polls, want %v as nothing was known", during, 2*seen.polls)
	}
	if last := walk(1e9, 1e9+ended-1, 1e9+ended); last >= during {
		t.Errorf("if the last began as the first was seen to end, they take %v polls, want less than %v", last, during)
	}
}
