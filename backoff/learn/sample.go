package learn

import (
	"math"
	"slices"
	"time"
)

// maxRuns is how many of the newest runs are fitted: with a half-life of 15
// runs the hundredth weighs 1% of the newest.
const maxRuns = 100

// halfLife is in runs. Ten to fifteen is best under drift and costs nothing on
// a steady history.
const halfLife = 15

const (
	shortest = 1e-6                         // s: what counts as no time at all
	longest  = float64(math.MaxInt64) / 1e9 // s: what a time.Duration can say
)

// A sample is a history as the fit sees it, newest run first: the durations in
// seconds, their logarithms, and their weights, which sum to 1.
type sample struct {
	x, ln, w []float64
}

func newSample(runs []Run) sample {
	runs = runs[max(0, len(runs)-maxRuns):]
	var s, bracketed sample
	for _, r := range slices.Backward(runs) {
		x, weight := r.midpoint(), math.Exp2(-float64(len(s.w))/halfLife)
		s.add(x, weight)
		if !r.atOnce() {
			bracketed.add(x, weight)
		}
	}
	s.normalize()
	bracketed.normalize()
	s.impute(runs, bracketed)
	return s
}

func (s *sample) add(x, weight float64) {
	s.x = append(s.x, x)
	s.ln = append(s.ln, math.Log(x))
	s.w = append(s.w, weight)
}

func (s *sample) normalize() {
	total := sum(s.w)
	for i := range s.w {
		s.w[i] /= total
	}
}

// impute replaces the durations of the runs that were over at their first poll
// by the mean that the other runs, and then all of them, let expect. Half of
// such an interval is no guess at all when the polls were laid so that the
// first lies near the end: a learner that took it would poll ever earlier.
func (s *sample) impute(runs []Run, from sample) {
	if len(from.x) == 0 {
		return
	}
	for range 2 {
		m := fitMixture(from)
		for i := range s.x {
			if r := runs[len(runs)-1-i]; r.atOnce() {
				s.x[i] = max(shortest, m.meanBefore(r.Hi.Seconds()))
				s.ln[i] = math.Log(s.x[i])
			}
		}
		from = *s
	}
}

// atOnce says that the first poll saw the end.
func (r Run) atOnce() bool { return r.Lo <= 0 && r.Hi > 0 }

// midpoint is the best guess at the duration in seconds. Taking Hi instead
// would feed the delay of one run's polls into the next run's schedule, which
// would drift later run after run.
func (r Run) midpoint() float64 {
	hi := max(r.Hi, r.Lo, 0).Seconds()
	lo := min(max(r.Lo.Seconds(), 0.02*hi), hi)
	return max(shortest, (lo+hi)/2)
}

// effective is Kish's effective number of runs, 1 / sum w^2.
func (s sample) effective() float64 {
	var squares float64
	for _, w := range s.w {
		squares += w * w
	}
	return 1 / squares
}

// moments returns the weighted mean and variance of values.
func moments(values, weights []float64) (mean, variance float64) {
	for i, v := range values {
		mean += weights[i] * v
	}
	mean /= sum(weights)
	for i, v := range values {
		variance += weights[i] * (v - mean) * (v - mean)
	}
	return mean, variance / sum(weights)
}

func sum(values []float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total
}

// quantile interpolates between the order statistics of values.
func quantile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

// toDuration turns seconds into a duration, rounded up so that a wait never
// ends before the moment it aims at, and saturated.
func toDuration(seconds float64) time.Duration {
	if !(seconds < longest) {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(max(0, seconds) * 1e9))
}
