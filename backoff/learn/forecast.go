package learn

import (
	"math"
	"sort"
)

// A forecast is the distribution of a run's duration: what the experts say together, as a table
// of the kernels' survival at ages, and the broad component, which has no end.
type forecast struct {
	ages    []float64 // increasing, in seconds, from 0
	kernels []float64 // the chance of an end after an age by any kernel
	broad   float64   // weight of the broad component
	median  float64   // of the broad component, seconds
}

// An expert is one whose kernels are in a forecast.
type expert struct {
	*view
	weight, bandwidth float64
}

// leastWeight is that of an expert whom it is worth to listen to.
const leastWeight = 0.01

// forecast returns what the experts say of the next run.
func (e *experts) forecast() forecast {
	var list []expert
	var total float64
	for f := range e.weights {
		v := &e.views[f]
		whole := 0.0
		for w, weight := range e.weights[f] {
			if weight >= leastWeight {
				list = append(list, expert{v, weight * (1 - v.whole), v.bandwidth(bandwidths[w])})
				whole += weight
			}
		}
		total += whole
		if whole > 0 {
			one := &view{weights: []float64{1}, logs: []float64{v.mean}}
			list = append(list, expert{one, whole * v.whole, v.wholeSD()})
		}
	}
	v := &e.views[0]
	result := forecast{broad: v.broad, median: v.median}
	logs := gridOf(list)
	result.kernels = make([]float64, len(logs)+1)
	ended := result.kernels[1:] // first, the chance of an end by any kernel, then the survival
	steps := make([]float64, len(logs)+1)
	for _, x := range list {
		x.weight *= (1 - v.broad) / total
		x.tabulate(e.bell, logs, ended, steps)
	}
	result.ages = make([]float64, len(logs)+1)
	result.kernels[0] = 1 - v.broad
	var below float64
	for i, ln := range logs {
		below += steps[i]
		result.ages[i+1] = math.Exp(ln)
		ended[i] = max(0, 1-v.broad-below-ended[i])
	}
	result.kernels[len(logs)] = 0
	return result
}

// tabulate adds the chances of an end by the kernels of an expert: within their reach to ended,
// and beyond it, as a step, to steps.
func (x expert) tabulate(b *bell, logs, ended, steps []float64) {
	from, to, scale := 0, 0, 1/x.bandwidth
	for i, ln := range x.logs {
		for from < len(logs) && logs[from] < ln-reach*x.bandwidth {
			from++
		}
		for to < len(logs) && logs[to] < ln+reach*x.bandwidth {
			to++
		}
		weight := x.weight * x.weights[i]
		for j := from; j < to; j++ {
			ended[j] += weight * b.below((logs[j]-ln)*scale)
		}
		steps[to] += weight
	}
}

// gridOf returns the logarithms of ages at which kernels are tabulated: four for each standard
// deviation of the narrowest that reaches there.
func gridOf(list []expert) []float64 {
	const (
		fine  = 0.25 // in standard deviations
		width = 5    // in standard deviations, on either side of a kernel
	)
	var logs []float64
	next := make([]int, len(list)) // the first kernel of each that ends after at
	at := math.Inf(1)
	for _, x := range list {
		at = min(at, x.logs[0]-width*x.bandwidth)
	}
	for {
		logs = append(logs, at)
		step, start := math.Inf(1), math.Inf(1)
		for i, x := range list {
			for next[i] < len(x.logs) && x.logs[next[i]]+width*x.bandwidth <= at {
				next[i]++
			}
			if next[i] == len(x.logs) {
				continue
			}
			if begins := x.logs[next[i]] - width*x.bandwidth; begins > at {
				start = min(start, begins)
			} else {
				step = min(step, fine*x.bandwidth)
			}
		}
		switch {
		case !math.IsInf(step, 1):
			at = min(at+step, max(start, at+step/8))
		case !math.IsInf(start, 1):
			at = start
		default:
			return logs
		}
	}
}

// quantile returns the age in seconds by which a run has ended with chance p, 0 < p < 1.
func (f forecast) quantile(p float64) float64 {
	low, high := math.Log(1e-12), math.Log(longest)
	for range 100 {
		middle := (low + high) / 2
		if _, survival := f.at(math.Exp(middle)); 1-survival < p {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(high)
}

// at returns the density, per second, and the survival at t seconds, t >= 0.
func (f forecast) at(t float64) (density, survival float64) {
	u := 1 / (1 + t/f.median)
	density, survival = f.broad*u*u/f.median, f.broad*u
	last := len(f.ages) - 1
	if t >= f.ages[last] {
		return density, survival
	}
	i := max(1, sort.SearchFloat64s(f.ages, t))
	slope := (f.kernels[i-1] - f.kernels[i]) / (f.ages[i] - f.ages[i-1])
	return density + slope, survival + f.kernels[i] + slope*(f.ages[i]-t)
}
