package learn

import (
	"iter"
	"math"
	"time"

	"github.com/pollcli/poll/backoff"
)

// Runs is how many runs were learned from, 1 to 100.
func (m *Model) Runs() int { return m.runs }

// Done returns the chance, 0 to 1, that a run is over by that age.
func (m *Model) Done(age time.Duration) float64 { return 1 - m.survival(age) }

// Quantile returns the age by which a run is over with chance p: 0 for p <= 0,
// the longest duration for p >= 1.
func (m *Model) Quantile(p float64) time.Duration {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return math.MaxInt64
	}
	low, high := math.Log(1e-12), math.Log(longest)
	for range 100 {
		middle := (low + high) / 2
		if _, survival := m.mixture.at(math.Exp(middle)); 1-survival < p {
			low = middle
		} else {
			high = middle
		}
	}
	return toDuration(math.Exp(high))
}

// Expected returns the age at which a run that is not over at that age is as
// likely over as not: the median run at age 0, and always after age.
func (m *Model) Expected(age time.Duration) time.Duration {
	return max(age, m.Quantile(1-m.survival(age)/2))
}

// survival is the chance that a run is not over by that age.
func (m *Model) survival(age time.Duration) float64 {
	if age <= 0 {
		return 1
	}
	_, survival := m.mixture.at(age.Seconds())
	return min(1, survival)
}

// A Poll is one of the polls of a run that nothing else disturbs.
type Poll struct {
	// Age of the operation at the poll.
	Age time.Duration
	// Sees is the chance, 0 to 1, that this is the poll that sees the end, of a
	// run that is not over when the wait starts.
	Sees float64
}

// Polls yields the polls of a run whose attempts take no time. It ends only
// where a [time.Duration] does, so break off where enough is seen.
func (m *Model) Polls() iter.Seq[Poll] {
	return func(yield func(Poll) bool) {
		age := m.start
		before := m.survival(age)
		start := max(before, math.SmallestNonzeroFloat64)
		for age < math.MaxInt64 {
			wait := m.Wait(backoff.Step{Elapsed: age - m.start}, nil)
			age += min(wait, math.MaxInt64-age)
			after := m.survival(age)
			if !yield(Poll{Age: age, Sees: (before - after) / start}) {
				return
			}
			before = after
		}
	}
}

// A Point is a sample of the distribution of the duration.
type Point struct {
	Age     time.Duration
	Density float64 // chance for each second that a run ends at this age
	Done    float64 // chance, 0 to 1, that it is over by this age
}

// Points samples the distribution at n ages evenly spaced above 0 up to until,
// for a plot.
func (m *Model) Points(until time.Duration, n int) []Point {
	points := make([]Point, 0, max(n, 0))
	for i := range n {
		age := until.Seconds() * float64(i+1) / float64(n)
		density, survival := m.mixture.at(max(age, shortest))
		points = append(points, Point{toDuration(age), density, 1 - min(1, survival)})
	}
	return points
}
