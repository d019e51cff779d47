package main

import (
	"math"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
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
		0.01: {aws: 40.25, geometric: 68.52, fixed: 13.18, exact: 8.44, seen: 8.67, optimum: 5.53, polls: 4.38, delay: 4.29},
		0.05: {aws: 187.53, geometric: 322.51, fixed: 26.31, exact: 18.82, seen: 19.58, optimum: 14.26, polls: 2.14, delay: 8.87},
	} {
		have, err := evaluate(tr, share)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what       string
			have, want float64
		}{
			{"aws", have.aws, want.aws},
			{"geometric", have.geometric, want.geometric},
			{"best fixed", have.fixed, want.fixed},
			{"learned from exact durations", have.exact, want.exact},
			{"learned", have.seen, want.seen},
			{"optimum", have.optimum, want.optimum},
			{"polls", have.polls, want.polls},
			{"delay", have.delay, want.delay},
		} {
			if math.Abs(c.have-c.want) > 0.01*c.want+0.005 {
				t.Errorf("a poll worth %v of the median: %s %.2f, want %.2f", share, c.what, c.have, c.want)
			}
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

func TestWatch(t *testing.T) {
	t.Parallel()
	took, seen := watch(backoff.Fixed(4*time.Second), 10)
	if want := (score{3, 2}); took != want || seen.Lo != 8*time.Second || seen.Hi != 12*time.Second {
		t.Errorf("a run of 10s polled every 4s took %+v and was seen as %+v", took, seen)
	}
	if have := fixed([]float64{10, 8}, 4); have != (score{5, 2}) {
		t.Errorf("runs of 10s and 8s polled every 4s take %+v, want 5 polls and 2s", have)
	}
}
