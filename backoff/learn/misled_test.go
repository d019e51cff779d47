package learn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
)

// configured is the default schedule: 100 ms doubled up to 20 s.
var configured = backoff.Cap{}

// A wait is what waiting for one run took, in virtual time.
type wait struct {
	attempts int
	delay    time.Duration // after the end of the run
	seen     learn.Run
}

func (w wait) cost(attempt float64) float64 { return attempt*float64(w.attempts) + w.delay.Seconds() }

func watch(s backoff.Schedule, seconds float64) wait {
	duration := time.Duration(seconds * 1e9)
	var (
		step backoff.Step
		w    wait
	)
	for w.attempts == 0 || w.seen.Hi < duration {
		step.Previous = s.Wait(step, nil)
		step.N++
		step.Elapsed += step.Previous
		w.attempts++
		w.seen = learn.Run{Lo: w.seen.Hi, Hi: step.Elapsed}
	}
	w.delay = w.seen.Hi - duration
	return w
}

// A learner waits for one run after the other and knows of each only what its
// own attempts saw.
type learner struct{ past []learn.Run }

func (l *learner) wait(seconds float64) wait {
	var schedule backoff.Schedule = configured
	if m, err := learn.Fit(l.past, learn.Options{Base: 100 * time.Millisecond}); err == nil {
		schedule = m
	}
	w := watch(schedule, seconds)
	l.past = append(l.past, w.seen)
	return w
}

// learnerOf has waited for runs around that median in seconds.
func learnerOf(seed uint64, runs int, median float64) *learner {
	var l learner
	for _, d := range around(seed, runs, median, 0.1) {
		l.wait(d)
	}
	return &l
}

// median of what has been seen, in seconds.
func (l *learner) median() float64 {
	var list []float64
	for _, r := range l.past {
		list = append(list, (r.Lo+r.Hi).Seconds()/2)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func TestTenTimesSlower(t *testing.T) {
	t.Parallel()
	for _, median := range []float64{2, 3600} { // scale changes nothing
		for _, runs := range []int{1, 5, 60} {
			t.Run(fmt.Sprintf("%d runs of %vs", runs, median), func(t *testing.T) {
				t.Parallel()
				var first, firstConfigured, tenth float64
				const seeds = 2
				for seed := range uint64(seeds) {
					l := learnerOf(seed, runs, median)
					for i, d := range around(seed+100, 10, 10*median, 0.1) {
						w := l.wait(d)
						switch i {
						case 0:
							attempt := 0.01 * median
							first += w.cost(attempt)
							firstConfigured += watch(configured, d).cost(attempt)
						case 9:
							tenth += w.cost(0.1*median) / d / seeds
						}
					}
				}
				if ratio := first / firstConfigured; ratio > 1.5 {
					t.Errorf("the first slow run costs %.2f of the configured strategy, want at most 1.5", ratio)
				}
				if tenth > 0.25 {
					t.Errorf("the tenth slow run costs %.0f%% of its length, want at most 25%%", 100*tenth)
				}
			})
		}
	}
}

func TestTenTimesFaster(t *testing.T) {
	t.Parallel()
	for _, median := range []float64{10, 3600} { // scale changes nothing
		for _, runs := range []int{1, 5, 60} {
			t.Run(fmt.Sprintf("%d runs of %vs", runs, median), func(t *testing.T) {
				t.Parallel()
				var tenth float64
				const seeds = 2
				for seed := range uint64(seeds) {
					l := learnerOf(seed, runs, median)
					limit := l.median()
					for i, d := range around(seed+100, 10, median/10, 0.1) {
						w := l.wait(d)
						if i == 0 && w.delay.Seconds() > limit {
							t.Errorf("the first fast run is seen %v late, want at most the median, %.1fs", w.delay, limit)
						}
						if i == 9 {
							tenth += w.delay.Seconds() / d / seeds
						}
					}
				}
				if tenth > 0.4 {
					t.Errorf("the tenth fast run is seen %.0f%% of its length late, want at most 40%%", 100*tenth)
				}
			})
		}
	}
}

// A build takes 5 s with a warm cache and 45 s with a cold one.
func TestTwoModes(t *testing.T) {
	t.Parallel()
	orders := map[string]func(i int, r *rand.Rand) bool{
		"fast first": func(i int, _ *rand.Rand) bool { return i%2 == 0 },
		"slow first": func(i int, _ *rand.Rand) bool { return i%2 == 1 },
		"in pairs":   func(i int, _ *rand.Rand) bool { return i/2%2 == 0 },
		"by chance": func(i int, r *rand.Rand) bool {
			if i < 4 {
				return i%2 == 0
			}
			return r.IntN(2) == 0
		},
		"mostly fast": func(i int, _ *rand.Rand) bool { return i%4 != 3 && i != 1 },
		"mostly slow": func(i int, _ *rand.Rand) bool { return i%4 == 0 || i == 1 },
	}
	for name, fast := range orders {
		for _, spread := range []float64{0, 0.02} {
			t.Run(fmt.Sprintf("%s, spread %v", name, spread), func(t *testing.T) {
				t.Parallel()
				share := map[float64]float64{}
				runs := map[float64]float64{}
				seeds := uint64(2)
				if spread == 0 && name != "by chance" { // all would be the same
					seeds = 1
				}
				for seed := range seeds {
					r := rand.New(rand.NewPCG(seed, 2))
					noise := around(seed, 30, 1, spread)
					met := map[float64]int{}
					var l learner
					for i, factor := range noise {
						mode := 45.0
						if fast(i, r) {
							mode = 5
						}
						w := l.wait(mode * factor)
						if met[5] >= 2 && met[45] >= 2 {
							share[mode] += w.delay.Seconds() / (mode * factor)
							runs[mode]++
						}
						// An attempt far beyond the end tells nothing about the length.
						if w.seen.Lo > 0 {
							met[mode]++
						}
					}
				}
				for mode := range runs {
					if late := share[mode] / runs[mode]; !(late <= 0.2) {
						t.Errorf("runs of %vs are seen %.0f%% of their lengths late on average, want at most 20%%", mode, 100*late)
					}
				}
			})
		}
	}
}
