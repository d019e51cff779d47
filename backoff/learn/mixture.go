package learn

import (
	"cmp"
	"math"
	"slices"
)

// A component is one log-normal distribution of a mixture: the logarithm of
// the duration in seconds is normal with this mean and standard deviation.
type component struct {
	weight, mean, sd float64
}

// reach is how many standard deviations of a component are looked at; beyond
// it 1e-9 of its weight is left.
const reach = 6

// A mixture is the distribution of a run's duration: log-normal components and
// a broad log-logistic one of shape 1, survival 1/(1+t/median). The broad one
// never lets the hazard fall below broad/(median+t), which guards the tail,
// notices early failures and is the caution of a short history, all at once.
type mixture struct {
	components []component
	broad      float64
	median     float64
}

// fitMixture is the kernel mixture of the design's learning algorithm: one
// kernel for each run, one log-normal over all of them that counts as two
// runs, and the broad component.
func fitMixture(s sample) mixture {
	k := float64(len(s.x))
	ke := s.effective()
	mean, variance := moments(s.ln, s.w)
	sd := math.Sqrt((priorSD*priorSD + ke*variance) / ke)
	m := mixture{
		broad:  max(0.01, 0.5/(k+2)),
		median: quantile(s.x, 0.5),
	}
	bandwidth := bandwidth(s, sd)
	whole := 2 / (2 + k)
	for i := range s.ln {
		m.components = append(m.components, component{(1 - m.broad) * (1 - whole) * s.w[i], s.ln[i], bandwidth})
	}
	m.components = append(m.components, component{(1 - m.broad) * whole, mean, sd * math.Sqrt(1+1/ke)})
	return m
}

// priorSD is the spread of the logarithms assumed before any run, as if one
// run had shown it.
const priorSD = 0.3

// bandwidth is the standard deviation of a kernel.
func bandwidth(s sample, sd float64) float64 {
	if len(s.ln) == 1 {
		return sd
	}
	ke := s.effective()
	spread := sd
	if len(s.ln) >= 4 {
		iqr := (quantile(s.ln, 0.75) - quantile(s.ln, 0.25)) / 1.349
		spread = min(sd, math.Sqrt((0.25*priorSD*priorSD+ke*iqr*iqr)/(0.25+ke)))
	}
	if modes := s.modes(); modes != nil {
		spread = min(spread, math.Sqrt((priorSD*priorSD+ke*within(modes))/ke))
	}
	return max(0.02, 0.7*spread*math.Pow(ke, -0.2))
}

// at returns the density (per second) and the survival at t seconds, t > 0.
func (m mixture) at(t float64) (density, survival float64) {
	u := 1 / (1 + t/m.median)
	density = m.broad * u * u / m.median
	survival = m.broad * u
	ln := math.Log(t)
	for _, c := range m.components {
		z := (ln - c.mean) / c.sd
		switch {
		case z < -reach:
			survival += c.weight
		case z <= reach:
			survival += c.weight * normal(-z)
			density += c.weight * math.Exp(-z*z/2) / (c.sd * t * sqrt2Pi)
		}
	}
	return density, survival
}

const sqrt2Pi = 2.50662827463100050241576528481104525300698674061

// meanBefore is the mean of the durations in seconds of the runs that end
// within t seconds, t > 0.
func (m mixture) meanBefore(t float64) float64 {
	u := t / m.median
	chance := m.broad * u / (1 + u)
	total := m.broad * m.median * (math.Log1p(u) - u/(1+u))
	for _, c := range m.components {
		z := (math.Log(t) - c.mean) / c.sd
		chance += c.weight * normal(z)
		total += c.weight * math.Exp(c.mean+c.sd*c.sd/2) * normal(z-c.sd)
	}
	return min(total/chance, t)
}

// normal is the standard normal distribution function.
func normal(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// grid returns increasing ages in seconds at which to look at the mixture:
// about twenty-seven to a factor of ten from a thousandth to a thousand
// medians, and four to a standard deviation around every component.
func (m mixture) grid() []float64 {
	const (
		coarse = 0.0864 // 160 steps over a factor of a million
		fine   = 0.25   // in standard deviations
		width  = 5      // in standard deviations
	)
	from, to := math.Log(m.median)-math.Log(1e3), math.Log(m.median)+math.Log(1e3)
	var logs []float64
	covered := math.Inf(-1)
	sorted := slices.SortedFunc(slices.Values(m.components), func(a, b component) int {
		return cmp.Or(cmp.Compare(a.sd, b.sd), cmp.Compare(a.mean, b.mean))
	})
	for i, c := range sorted {
		if i > 0 && c.sd != sorted[i-1].sd {
			covered = math.Inf(-1)
		}
		low, high := c.mean-width*c.sd, c.mean+width*c.sd
		from, to = min(from, low), max(to, high)
		for covered = max(covered, low); covered < high; covered += fine * c.sd {
			logs = append(logs, covered)
		}
	}
	for l := from; l < to; l += coarse {
		logs = append(logs, l)
	}
	logs = append(logs, to)
	slices.Sort(logs)
	logs = slices.Compact(logs)
	for i, l := range logs {
		logs[i] = math.Exp(l)
	}
	return logs
}
