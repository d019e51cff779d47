package learn

import (
	"math"
	"slices"
)

const (
	// priorSD is the standard deviation that is assumed for the logarithms of durations before there are any runs.
	// This assumption weighs as much as one run.
	priorSD = 0.3

	// leastSD is the minimum standard deviation of a kernel.
	leastSD = 0.005

	// share is the part of the total weight that is spread evenly over the experts after each run. An expert that
	// was wrong for a long time can thus soon gain weight again (Herbster & Warmuth 1998).
	share = 0.02
)

// An expert forecasts the duration of the next run from the past runs. Experts differ in how fast they forget old
// runs, and in the width of their kernels.
type expert struct {
	halfLife float64 // the number of runs after which the weight of a run is halved
	width    float64 // the width of the kernels, relative to the usual width
	weight   float64 // the weight of this expert; the weights of all experts add up to 1
	forecast forecast
}

// experts holds the past runs and all experts. Each expert predicts the duration of the next run with different
// settings. The forecast is the weighted sum of the predictions.
type experts struct {
	logs   []float64 // the logarithms of the durations in seconds, oldest first
	all    []expert
	streak float64 // the probability that the experts gave to the latest uninterrupted series of runs that ended by their first attempts; 1 without such a series
}

// newExperts returns eight experts with equal weights, and no past runs.
func newExperts() *experts {
	e := experts{streak: 1}
	for _, halfLife := range []float64{3, 60} {
		for _, width := range []float64{0.1, 0.2, 0.7, 1.4} {
			e.all = append(e.all, expert{halfLife: halfLife, width: width, weight: 0.125})
		}
	}
	return &e
}

// learn adjusts the weights of the experts according to the probabilities that they gave to r. Then it adds r to
// the past runs, and updates the forecasts.
func (e *experts) learn(r Run) {
	low, high := r.bracket()
	chance := 1.0
	if len(e.logs) > 0 {
		chance = e.judge(low, high)
	}
	if math.IsInf(low, -1) {
		e.streak *= chance
	} else {
		e.streak = 1
	}
	e.logs = append(e.logs, e.place(low, high))
	for i := range e.all {
		e.all[i].fit(e.logs)
	}
}

// judge multiplies the weight of each expert by the probability that the expert gave to a run. The run ended
// between two ages, whose logarithms are low and high. judge returns the probability that the weighted forecast of
// all experts gave to the run.
func (e *experts) judge(low, high float64) float64 {
	var total float64
	for i := range e.all {
		x := &e.all[i]
		x.weight *= max(x.forecast.survival(low)-x.forecast.survival(high), 1e-100)
		total += x.weight
	}
	for i := range e.all {
		e.all[i].weight = share/float64(len(e.all)) + (1-share)*e.all[i].weight/total
	}
	return total
}

// place returns a single duration, as a logarithm, for a run that ended between two ages, whose logarithms are low
// and high. There are these cases:
//
//   - If low and high are finite, or if the run is the first and was not given up, the duration is in the middle between the two ages.
//   - If low is -Inf, the run ended before its first attempt. The middle would be far off, because attempts are planned to be near the
//     end. The duration is therefore the mean of such runs in the most cautious forecast.
//   - If high is +Inf, the run was given up. The duration is the median of the runs that outlast the age whose logarithm is low or, if
//     the run is the first, twice that age.
func (e *experts) place(low, high float64) float64 {
	first, givenUp := math.IsInf(low, -1), math.IsInf(high, 1)
	f := e.all[len(e.all)-1].forecast
	if e.streak < share {
		f.kernels, f.broad = nil, 1 // the past runs contain no information about such runs
	}
	switch {
	case len(e.logs) == 0 && !givenUp:
		return math.Log(math.Exp(low)/2 + math.Exp(high)/2)
	case !first && !givenUp:
		return (low + high) / 2
	case first:
		return math.Log(f.meanBelow(math.Exp(high)))
	case len(e.logs) == 0:
		return low + math.Ln2
	}
	return f.quantile(1 - f.survival(low)/2)
}

// fit replaces the forecast of x by a forecast that is based on logs, the logarithms of past durations, oldest
// first. The new forecast has a narrow kernel for each run, and a wide kernel for all runs together, which weighs
// as much as two runs.
func (x *expert) fit(logs []float64) {
	sorted := slices.Sorted(slices.Values(logs))
	weights, effective := x.weigh(len(logs))
	var mean, variance float64
	for i, ln := range logs {
		mean += weights[i] * ln
	}
	for i, ln := range logs {
		variance += weights[i] * (ln - mean) * (ln - mean)
	}
	n, sd := float64(len(logs)), math.Sqrt(priorSD*priorSD/effective+variance)
	narrow := sd
	if n > 1 {
		usual := min(sd, quartileSD(sorted, effective)) * math.Pow(effective, -0.2)
		narrow = max(leastSD, x.width*usual)
	}
	whole, broad := 2/(2+n), max(0.01, 0.5/(2+n))
	f := forecast{broad: broad, median: math.Exp(quantile(sorted, 0.5)), kernels: x.forecast.kernels[:0]}
	for i, ln := range logs {
		f.add((1-broad)*(1-whole)*weights[i], ln, narrow)
	}
	f.add((1-broad)*whole, mean, sd*math.Sqrt(1+1/effective))
	x.forecast = f
}

// weigh returns the weights of n runs, oldest first, which add up to 1. It also returns the effective number of
// runs: the number of runs with equal weights whose mean would have the same variance.
func (x *expert) weigh(n int) (weights []float64, effective float64) {
	var total, squares float64
	for i := range n {
		w := math.Exp2(-float64(n-1-i) / x.halfLife)
		weights = append(weights, w)
		total += w
		squares += w * w
	}
	for i := range weights {
		weights[i] /= total
	}
	return weights, total * total / squares
}

// quartileSD estimates the standard deviation of sorted from its quartiles, because a few outliers do not change
// the quartiles. The estimate includes the prior standard deviation, which weighs as much as a quarter of a run.
// For fewer than four runs, quartileSD returns +Inf. effective is the effective number of runs.
func quartileSD(sorted []float64, effective float64) float64 {
	if len(sorted) < 4 {
		return math.Inf(1)
	}
	sd := (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349
	return math.Sqrt((0.25*priorSD*priorSD + effective*sd*sd) / (0.25 + effective))
}

// quantile returns the p quantile of sorted, interpolated between neighboring values. p is between 0 and 1, and
// sorted must not be empty.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	a, b := sorted[i], sorted[min(i+1, len(sorted)-1)]
	return a + (at-float64(i))*(b-a)
}

// forecast returns the mixture of the forecasts of all experts, weighted by the experts' weights.
func (e *experts) forecast() forecast {
	f := forecast{broad: e.all[0].forecast.broad, median: e.all[0].forecast.median}
	for _, x := range e.all {
		for _, k := range x.forecast.kernels {
			f.add(x.weight*k.weight, k.mean, k.sd)
		}
	}
	return f
}
