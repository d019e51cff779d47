package learn

import (
	"math"
	"slices"
)

const (
	// priorSD is the standard deviation of the logarithms that is assumed before there
	// are any runs. It weighs as much as one run.
	priorSD = 0.3

	// leastSD is the least standard deviation of a kernel.
	leastSD = 0.005

	// share is the part of the experts' weights that is spread over all of them after each
	// run, so that another may take the lead (Herbster & Warmuth 1998).
	share = 0.02
)

// An expert forecasts the next run from those before it. Experts differ in how fast a run
// becomes outdated, and in how wide their kernels are.
type expert struct {
	halfLife float64 // the number of runs after which a run weighs half as much
	width    float64 // of kernels, relative to a usual one
	weight   float64 // those of all experts add up to 1
	forecast forecast
}

// experts are all experts and the past runs, oldest first.
type experts struct {
	logs   []float64 // logarithms of the seconds that the runs took
	all    []expert
	streak float64 // the forecast chance that the last runs in a row ended by their first attempts
}

func newExperts() *experts {
	e := experts{streak: 1}
	for _, halfLife := range []float64{3, 60} {
		for _, width := range []float64{0.1, 0.2, 0.7, 1.4} {
			e.all = append(e.all, expert{halfLife: halfLife, width: width, weight: 0.125})
		}
	}
	return &e
}

// learn weighs the experts by the chances that they gave to a run, then adds it to their runs.
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

// judge multiplies the weight of each expert by the chance that it gave to a run, and returns the
// chance that all of them gave to it together.
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

// place returns the logarithm of the duration that a run of that bracket counts with. It is the
// middle if there were attempts on both sides, or if there is no other run. Otherwise the middle
// would be far off, since attempts are planned near the end. A run that ended before its first
// attempt counts with the mean of such runs in the most cautious forecast, and a run that was
// given up with the median of such runs.
func (e *experts) place(low, high float64) float64 {
	first, givenUp := math.IsInf(low, -1), math.IsInf(high, 1)
	f := e.all[len(e.all)-1].forecast
	if e.streak < share {
		f.kernels, f.broad = nil, 1 // the past tells nothing of such runs
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

// fit makes the forecast of the expert from the logarithms of past durations, oldest first. One
// kernel lies over all runs, and weighs as much as two of them.
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

// weigh returns the weights of n runs, which add up to 1, and the effective number of runs: so
// many runs of equal weight have the same variance.
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

// quartileSD estimates the standard deviation from the quartiles, which a few runs of another kind
// do not widen. The prior weighs as much as a quarter of a run.
func quartileSD(sorted []float64, effective float64) float64 {
	if len(sorted) < 4 {
		return math.Inf(1)
	}
	sd := (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349
	return math.Sqrt((0.25*priorSD*priorSD + effective*sd*sd) / (0.25 + effective))
}

// quantile interpolates between order statistics.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	a, b := sorted[i], sorted[min(i+1, len(sorted)-1)]
	return a + (at-float64(i))*(b-a)
}

// forecast returns the mixture of the experts' forecasts of the next run, by their weights.
func (e *experts) forecast() forecast {
	f := forecast{broad: e.all[0].forecast.broad, median: e.all[0].forecast.median}
	for _, x := range e.all {
		for _, k := range x.forecast.kernels {
			f.add(x.weight*k.weight, k.mean, k.sd)
		}
	}
	return f
}
