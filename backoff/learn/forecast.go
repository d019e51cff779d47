package learn

import "math"

// A forecast is a probability distribution of the duration of a run. It is a mixture of log-normal kernels and a
// broad component. The broad component is log-logistic with shape 1, so the probability that a run lasts longer
// than t is 1/(1+t/median).
//
// The broad component keeps the hazard, which is the probability per second that a run ends now, at
// broad/(median+t) or above. It accounts for runs that take longer than all past runs, for runs that fail early,
// and for past runs that are too few to be trusted.
type forecast struct {
	kernels []kernel
	broad   float64 // the weight of the broad component
	median  float64 // the median of the broad component, in seconds
}

// A kernel is a normal distribution of the logarithm of the duration in seconds.
type kernel struct {
	weight, mean, sd float64
}

// reach is the distance from the mean at which a kernel is cut off, in standard deviations.
const reach = 5

// add adds a kernel to f, unless its weight is negligible.
func (f *forecast) add(weight, mean, sd float64) {
	if weight > 1e-7 {
		f.kernels = append(f.kernels, kernel{weight, mean, sd})
	}
}

// survival returns the probability that a run takes longer than the age whose logarithm is ln.
func (f forecast) survival(ln float64) float64 {
	survival := f.broad / (1 + math.Exp(ln)/f.median)
	for _, k := range f.kernels {
		switch z := (ln - k.mean) / k.sd; {
		case z <= -reach:
			survival += k.weight
		case z < reach:
			survival += k.weight * 0.5 * math.Erfc(z/math.Sqrt2)
		}
	}
	return survival
}

// density returns the probability density, per second, that a run ends at the age t. t is in seconds, and must be
// positive.
func (f forecast) density(t float64) float64 {
	u := 1 / (1 + t/f.median)
	density := f.broad * u * u / f.median
	ln := math.Log(t)
	for _, k := range f.kernels {
		if z := (ln - k.mean) / k.sd; z > -reach && z < reach {
			density += k.weight * math.Exp(-z*z/2) / (k.sd * t * math.Sqrt(2*math.Pi))
		}
	}
	return density
}

// meanBelow returns the mean duration of the runs that end before age. Both are in seconds.
func (f forecast) meanBelow(age float64) float64 {
	const steps = 32
	later := f.survival(math.Log(age))
	var lived float64
	for i := range steps {
		t := age * (float64(i) + 0.5) / steps
		lived += age / steps * (f.survival(math.Log(t)) - later)
	}
	ended := max(1-later, math.SmallestNonzeroFloat64) // 1-later may be 0 if hardly any run ends before age
	return max(shortest, min(age, lived/ended))
}

// quantile returns the age by which a run has ended with the probability p, as the logarithm of a number of
// seconds. p must be greater than 0 and less than 1.
func (f forecast) quantile(p float64) float64 {
	low, high := math.Log(1e-12), math.Log(longest)
	for range 60 {
		middle := (low + high) / 2
		if 1-f.survival(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
