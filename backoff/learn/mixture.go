package learn

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// maxRuns is how many of the newest runs are fitted. With a half-life of 15 runs, the
// hundredth weighs 1% of the newest.
const maxRuns = 100

// halfLife is the number of runs after which a run weighs half. Ten to fifteen is
// best when durations drift, and costs nothing when they do not.
const halfLife = 15

const (
	shortest = 1e-6                         // seconds; a run of no duration counts as this
	longest  = float64(math.MaxInt64) / 1e9 // seconds; the longest time.Duration
)

// A sample is a history prepared for the fit. The weights of all its points add up
// to 1.
type sample []point

// A point is one past run of a sample.
type point struct {
	run    Run
	x, ln  float64 // the duration in seconds, and its logarithm
	weight float64
}

func newSample(runs []Run) sample {
	var s, bracketed sample
	for _, r := range slices.Backward(runs[max(0, len(runs)-maxRuns):]) {
		x := r.midpoint()
		p := point{r, x, math.Log(x), math.Exp2(-float64(len(s)) / halfLife)}
		s = append(s, p)
		if !r.atOnce() {
			bracketed = append(bracketed, p)
		}
	}
	s.prepare()
	if len(bracketed) > 0 {
		bracketed.prepare()
		s.impute(bracketed)
	}
	return s
}

// prepare sorts a sample, shortest run first, and makes its weights add up to 1.
func (s sample) prepare() {
	slices.SortStableFunc(s, func(a, b point) int { return cmp.Compare(a.ln, b.ln) })
	total := s.weight()
	for i := range s {
		s[i].weight /= total
	}
}

// impute replaces the durations of runs that had ended by their first attempt with the
// mean expected from the other runs, and then from all of them. The middle between 0 and
// the first attempt would be a bad estimate, because the first attempt was planned near
// the end: the schedule would start earlier and earlier.
func (s sample) impute(from sample) {
	for range 2 {
		m := fitMixture(from)
		for i := range s {
			if p := &s[i]; p.run.atOnce() {
				p.x = max(shortest, m.meanBefore(p.run.Hi.Seconds()))
				p.ln = math.Log(p.x)
			}
		}
		s.prepare()
		from = s
	}
}

// atOnce reports whether the first attempt saw the end.
func (r Run) atOnce() bool { return r.Lo <= 0 && r.Hi > 0 }

// midpoint estimates the duration in seconds. Hi would not do: the delay of one run's
// attempts would enter the schedule of the next, which would drift later and later.
func (r Run) midpoint() float64 {
	hi := max(r.Hi, r.Lo, 0).Seconds()
	lo := min(max(r.Lo.Seconds(), 0.02*hi), hi)
	return max(shortest, (lo+hi)/2)
}

func (s sample) weight() (total float64) {
	for _, p := range s {
		total += p.weight
	}
	return total
}

// effective returns Kish's effective sample size, 1 / sum w^2.
func (s sample) effective() float64 {
	var squares float64
	for _, p := range s {
		squares += p.weight * p.weight
	}
	return 1 / squares
}

// moments returns the weighted mean and variance of the logarithms.
func (s sample) moments() (mean, variance float64) {
	total := s.weight()
	for _, p := range s {
		mean += p.weight * p.ln / total
	}
	for _, p := range s {
		variance += p.weight * (p.ln - mean) * (p.ln - mean) / total
	}
	return mean, variance
}

// quantile returns the p-quantiles of the durations and of their logarithms, interpolated
// between order statistics.
func (s sample) quantile(p float64) (x, ln float64) {
	at := p * float64(len(s)-1)
	a, b := s[int(at)], s[min(int(at)+1, len(s)-1)]
	part := at - math.Floor(at)
	return a.x + part*(b.x-a.x), a.ln + part*(b.ln-a.ln)
}

// toDuration converts seconds to a Duration, which saturates. It rounds up, so
// that no wait ends before the moment it aims at.
func toDuration(seconds float64) time.Duration {
	if !(seconds < longest) {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(max(0, seconds) * 1e9))
}

// Two modes are at least a factor of two apart, and far apart compared with the
// spread within them. Runs that weigh less than modeWeight are exceptions, such
// as early failures, and form no mode.
const (
	modeGap    = math.Ln2
	modeSpread = 4 // standard deviations
	modeWeight = 0.15
)

// modes returns the modes of the sample, shortest first, or nil if there are fewer
// than two. A mode is a group of at least two runs, far from all others: builds with
// a warm cache, say, as opposed to those with a cold one. A run that is far from all
// others belongs to none.
func (s sample) modes() []sample {
	var modes []sample
	for start, i := 0, 1; i <= len(s); i++ {
		if i < len(s) && s[i].ln-s[i-1].ln < modeGap {
			continue
		}
		if mode := s[start:i]; len(mode) >= 2 && mode.weight() >= modeWeight {
			modes = append(modes, mode)
		}
		start = i
	}
	if len(modes) < 2 || !apart(modes) {
		return nil
	}
	return modes
}

// apart reports whether every gap is wide compared with the spread within the
// modes.
func apart(modes []sample) bool {
	spread := math.Sqrt(within(modes))
	for i, mode := range modes[1:] {
		if before := modes[i]; mode[0].ln-before[len(before)-1].ln < modeSpread*spread {
			return false
		}
	}
	return true
}

// within returns the weighted variance of the logarithms around the means of their
// modes.
func within(modes []sample) float64 {
	var squares, weight float64
	for _, mode := range modes {
		_, variance := mode.moments()
		squares += mode.weight() * variance
		weight += mode.weight()
	}
	return squares / weight
}

// A component is one log-normal distribution of a mixture: the logarithm of the
// duration in seconds is normal, with this mean and standard deviation.
type component struct {
	weight, mean, sd float64
}

// reach is the number of standard deviations at which a component is cut off.
// Beyond it lies 1e-9 of its weight.
const reach = 6

// A mixture is the distribution of a run's duration: log-normal components and a
// broad log-logistic one of shape 1, whose survival is 1/(1+t/median). The broad
// component keeps the hazard at broad/(median+t) or above. That covers runs which
// outlast the history, runs which fail early, and a history that is too short to
// be trusted.
type mixture struct {
	components []component
	broad      float64 // weight of the broad component
	median     float64 // seconds
}

// fitMixture returns a mixture of one kernel for each run, one log-normal over all
// of them, which weighs as much as two runs, and the broad component.
func fitMixture(s sample) mixture {
	k := float64(len(s))
	ke := s.effective()
	mean, variance := s.moments()
	sd := math.Sqrt((priorSD*priorSD + ke*variance) / ke)
	m := mixture{broad: max(0.01, 0.5/(k+2))}
	m.median, _ = s.quantile(0.5)
	bandwidth := s.bandwidth(sd)
	whole := 2 / (2 + k)
	for _, p := range s {
		m.components = append(m.components, component{(1 - m.broad) * (1 - whole) * p.weight, p.ln, bandwidth})
	}
	m.components = append(m.components, component{(1 - m.broad) * whole, mean, sd * math.Sqrt(1+1/ke)})
	return m
}

// priorSD is the standard deviation of the logarithms that is assumed before there
// are any runs. It weighs as much as one run.
const priorSD = 0.3

// bandwidth returns the standard deviation of the kernels.
func (s sample) bandwidth(sd float64) float64 {
	if len(s) == 1 {
		return sd
	}
	ke := s.effective()
	spread := sd
	if len(s) >= 4 {
		_, low := s.quantile(0.25)
		_, high := s.quantile(0.75)
		iqr := (high - low) / 1.349
		spread = min(sd, math.Sqrt((0.25*priorSD*priorSD+ke*iqr*iqr)/(0.25+ke)))
	}
	if modes := s.modes(); modes != nil {
		spread = min(spread, math.Sqrt((priorSD*priorSD+ke*within(modes))/ke))
	}
	return max(0.02, 0.7*spread*math.Pow(ke, -0.2))
}

// at returns the density, per second, and the survival at t seconds, t > 0.
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

const sqrt2Pi = math.Sqrt2 * math.SqrtPi

// meanBefore returns the mean duration, in seconds, of the runs that end within
// t seconds, t > 0.
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

// grid returns the ages, in increasing seconds, at which the mixture is sampled:
// about 27 for each factor of ten, from a thousandth of the median to a thousand
// medians, and four for each standard deviation around every component.
func (m mixture) grid() []float64 {
	const (
		coarse = 0.0864 // 160 steps over a factor of a million
		fine   = 0.25   // in standard deviations
		width  = 5      // in standard deviations
	)
	from, to := math.Log(m.median)-math.Log(1e3), math.Log(m.median)+math.Log(1e3)
	var logs []float64
	covered := math.Inf(-1)
	for i, c := range m.components { // the kernels are sorted and have one sd
		if i > 0 && c.sd != m.components[i-1].sd {
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
