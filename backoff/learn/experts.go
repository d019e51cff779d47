package learn

import (
	"math"
	"slices"
)

const (
	// priorSD is the assumed standard deviation of the logarithms of durations before there are any runs. It
	// weighs as much as one run.
	priorSD = 0.3

	// leastSD is the least standard deviation of a kernel.
	leastSD = 0.005

	// share is the part of all weights that is spread evenly over the experts after each run. Another expert can
	// then take the lead soon (Herbster & Warmuth 1998).
	share = 0.02
)

// An expert forecasts the next run from the past runs. Experts differ in two ways: how fast a run becomes
// outdated, and how wide the kernels are.
type expert struct {
	halfLife float64 // in runs: a run weighs half of a run that is newer by this number
	width    float64 // the width of the kernels, relative to a usual width
	weight   float64 // the weights of all experts add up to 1
	forecast forecast
}

// experts are all experts and the past runs, oldest first.
type experts struct {
	logs   []float64 // the logarithms of the durations in seconds
	all    []expert
	streak float64 // the forecast chance of the latest runs in a row that ended by their first attempts
}

// newExperts returns eight experts with equal weights and without runs.
func newExperts() *experts {
	e := experts{streak: 1}
	for _, halfLife := range []float64{3, 60} {
		for _, width := range []float64{0.1, 0.2, 0.7, 1.4} {
			e.all = append(e.all, expert{halfLife: halfLife, width: width, weight: 0.125})
		}
	}
	return &e
}

// learn updates the weights of the experts by the chances that they gave to r, and then adds r to the past runs.
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

// judge multiplies the weight of each expert by the chance that the expert gave to a run. The run ended between
// the logarithms low and high. judge returns the chance that the mixture of all experts gave to the run.
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

// place returns the logarithm of a single duration for a run that ended between the logarithms low and high.
//
// The result is the middle if there were attempts on both sides, or if there is no other run. Otherwise the
// middle would be far off, since attempts are planned near the end. If low is -Inf, the run ended before its
// first attempt: the result is the mean of such runs in the most cautious forecast. If high is +Inf, the run was
// given up: the result is the median of the runs that take longer, or twice the age if there is no other run.
func (e *experts) place(low, high float64) float64 {
	first, givenUp := math.IsInf(low, -1), math.IsInf(high, 1)
	f := e.all[len(e.all)-1].forecast
	if e.streak < share {
		f.kernels, f.broad = nil, 1 // the past shows nothing about such runs
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

// fit replaces the forecast of x by a forecast from logs, the logarithms of past durations, oldest first. The
// forecast has a narrow kernel for each run and a wide kernel for all runs, which weighs as much as two runs.
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

// weigh returns the weights of n runs, which add up to 1, and the effective number of runs. The latter is the
// number of runs of equal weight with the same variance.
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

// quartileSD estimates the standard deviation from the quartiles of sorted, since a few outliers do not change
// the quartiles. The prior weighs as much as a quarter of a run. It returns +Inf for fewer than four runs.
func quartileSD(sorted []float64, effective float64) float64 {
	if len(sorted) < 4 {
		return math.Inf(1)
	}
	sd := (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349
	return math.Sqrt((0.25*priorSD*priorSD + effective*sd*sd) / (0.25 + effective))
}

// quantile returns the p quantile of sorted, interpolated between neighbouring values. p is from 0 to 1, and
// sorted is not empty.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	a, b := sorted[i], sorted[min(i+1, len(sorted)-1)]
	return a + (at-float64(i))*(b-a)
}

// forecast returns the mixture of the forecasts of all experts, by their weights.
func (e *experts) forecast() forecast {
	f := forecast{broad: e.all[0].forecast.broad, median: e.all[0].forecast.median}
	for _, x := range e.all {
		for _, k := range x.forecast.kernels {
			f.add(x.weight*k.weight, k.mean, k.sd)
		}
	}
	return f
}
