package learn

import "math"

// A view is a sample as one family of experts sees it: with weights that add up to 1, in order
// of length. Each expert of the family has kernels of another width.
type view struct {
	weights, logs []float64
	effective     float64 // the number of runs that would weigh as much if all weighed the same
	mean, sd      float64 // of the logarithms
	width         float64 // of kernels, as a standard deviation of which experts take a part

	// What is not in the kernels: one log-normal over all runs, which weighs as much as two,
	// and a broad component, log-logistic with shape 1, whose survival is 1/(1+t/median). That
	// keeps the hazard at broad/(median+t) or above, which covers runs that outlast the past, runs
	// that fail early, and a past that is too short to be trusted.
	whole, broad float64 // weights
	median       float64 // seconds
}

// priorSD is the standard deviation of the logarithms that is assumed before there
// are any runs. It weighs as much as one run.
const priorSD = 0.3

// leastBandwidth is the least standard deviation of a kernel.
const leastBandwidth = 0.005

// look makes the view of a sample in which each run has the weight that weigh returns. What an
// unfinished run weighs goes to those that took longer, in proportion to their weights (Efron
// 1967); if there are none, it stands at its place.
func (v *view) look(s sample, weigh func(point) float64) {
	v.weights, v.logs = v.weights[:0], v.logs[:0]
	var after, finished float64 // weights
	for _, p := range s {
		w := weigh(p)
		v.add(p.ln, w)
		after += w
		if !p.open {
			finished += w
		}
	}
	kept, total, lent := 0, after, 1.0
	for i, p := range s {
		w, ln := v.weights[i], p.ln
		after -= w
		switch {
		case !p.open:
			finished -= w
		case finished > 1e-9*total:
			lent *= (after + w) / after
			continue
		default:
			ln = p.place
		}
		v.logs[kept], v.weights[kept] = ln, w*lent/total
		kept++
	}
	v.logs, v.weights = v.logs[:kept], v.weights[:kept]
	v.measure()
}

func (v *view) add(ln, weight float64) {
	v.logs = append(v.logs, ln)
	v.weights = append(v.weights, weight)
}

func (v *view) measure() {
	k := float64(len(v.logs))
	v.whole, v.broad = 2/(2+k), max(0.01, 0.5/(k+2))
	v.median = math.Exp(v.quantile(0.5))
	var squares, variance float64
	v.mean = 0
	for i, w := range v.weights {
		squares += w * w
		v.mean += w * v.logs[i]
	}
	for i, w := range v.weights {
		variance += w * (v.logs[i] - v.mean) * (v.logs[i] - v.mean)
	}
	ke := 1 / squares
	v.effective = ke
	v.sd = math.Sqrt((priorSD*priorSD + ke*variance) / ke)
	spread := v.sd
	if k >= 4 {
		iqr := (v.quantile(0.75) - v.quantile(0.25)) / 1.349
		spread = min(v.sd, math.Sqrt((0.25*priorSD*priorSD+ke*iqr*iqr)/(0.25+ke)))
	}
	v.width = spread * math.Pow(ke, -0.2)
}

// quantile returns the p-quantile of the logarithms, all of the same weight, interpolated
// between order statistics.
func (v *view) quantile(p float64) float64 {
	at := p * float64(len(v.logs)-1)
	i := int(at)
	a, b := v.logs[i], v.logs[min(i+1, len(v.logs)-1)]
	return a + (at-float64(i))*(b-a)
}

// bandwidth returns the standard deviation of kernels of that relative width. About a single
// run, all know the same.
func (v *view) bandwidth(width float64) float64 {
	if len(v.logs) == 1 {
		return v.sd
	}
	return max(leastBandwidth, width*v.width)
}

// wholeSD is the standard deviation of the component over all runs.
func (v *view) wholeSD() float64 { return v.sd * math.Sqrt(1+1/v.effective) }

// survival of the broad component at an age with that logarithm.
func (v *view) survival(ln float64) float64 { return 1 / (1 + math.Exp(ln)/v.median) }

// chance returns the probability of the end between two ages, given by their logarithms, for
// kernels of that bandwidth. It is above 0.
func (v *view) chance(b *bell, low, high, bandwidth float64) float64 {
	from, to, scale := low-reach*bandwidth, high+reach*bandwidth, 1/bandwidth
	var kernels float64
	for i, ln := range v.logs {
		if ln > to {
			break
		}
		if ln >= from {
			kernels += v.weights[i] * (b.below((high-ln)*scale) - b.below((low-ln)*scale))
		}
	}
	sd := v.wholeSD()
	whole := b.below((high-v.mean)/sd) - b.below((low-v.mean)/sd)
	chance := (1-v.broad)*((1-v.whole)*kernels+v.whole*whole) + v.broad*(v.survival(low)-v.survival(high))
	return max(chance, 1e-100)
}

// unknown returns a view of the broad component alone.
func (v *view) unknown() *view { return &view{broad: 1, median: v.median, sd: 1, effective: 1} }

// within returns the logarithm of the mean duration of the runs that end between two ages, given
// by their logarithms, for kernels of that bandwidth. The middle would be a bad estimate if there
// are few attempts: they are planned near the end, so the next ones would be earlier and earlier, or
// later and later.
func (v *view) within(b *bell, low, high, bandwidth float64) float64 {
	from, to := math.Exp(low)/v.median, math.Exp(high)/v.median
	chance := v.broad * (v.survival(low) - v.survival(high))
	total := v.broad * v.median * (math.Log1p(to) - math.Log1p(from) + 1/(1+to) - 1/(1+from))
	add := func(weight, mean, sd float64) {
		if mean < low-reach*sd || mean-sd*sd > high+reach*sd {
			return
		}
		before, after := (low-mean)/sd, (high-mean)/sd
		chance += weight * (b.below(after) - b.below(before))
		total += weight * math.Exp(mean+sd*sd/2) * (b.below(after-sd) - b.below(before-sd))
	}
	for i, w := range v.weights {
		add((1-v.broad)*(1-v.whole)*w, v.logs[i], bandwidth)
	}
	add((1-v.broad)*v.whole, v.mean, v.wholeSD())
	if !(chance > 0 && total > 0) { // too small to be told
		return math.Log(math.Exp(low)/2 + math.Exp(high)/2)
	}
	return min(max(math.Log(total/chance), low, math.Log(shortest)), high)
}
