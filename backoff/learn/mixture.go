package learn

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// maxRuns is the number of newest runs that are fitted. With a half-life of 15
// runs, the hundredth weighs 1% of the newest.
const maxRuns = 100

// halfLife is the number of runs after which a run weighs half. Ten to fifteen is
// best when durations drift, and costs nothing when they do not.
const halfLife = 15

const (
	shortest = 1e-6                         // seconds; a run of no duration counts as this
	longest  = float64(math.MaxInt64) / 1e9 // seconds; the longest time.Duration
)

// A sample is a history prepared for the fit, newest run first: the durations in
// seconds, their logarithms, and their weights, which add up to 1.
type sample struct {
	x, ln, w []float64
}

func newSample(runs []Run) sample {
	runs = slices.Clone(runs[max(0, len(runs)-maxRuns):])
	slices.Reverse(runs)
	var s, bracketed sample
	for i, r := range runs {
		x, weight := r.midpoint(), math.Exp2(-float64(i)/halfLife)
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

// impute replaces the durations of runs that had ended by their first attempt with
// the mean expected from the other runs, and then from all of them. The middle
// between 0 and the first attempt would be a bad estimate, because the first
// attempt was planned near the end: the schedule would start ever earlier.
func (s *sample) impute(runs []Run, from sample) {
	if len(from.x) == 0 {
		return
	}
	for range 2 {
		m := fitMixture(from)
		for i, r := range runs {
			if r.atOnce() {
				s.x[i] = max(shortest, m.meanBefore(r.Hi.Seconds()))
				s.ln[i] = math.Log(s.x[i])
			}
		}
		from = *s
	}
}

// atOnce reports whether the first attempt saw the end.
func (r Run) atOnce() bool { return r.Lo <= 0 && r.Hi > 0 }

// midpoint estimates the duration in seconds. Hi would not do: the delay of one
// run's attempts would enter the schedule of the next, which would drift ever
// later.
func (r Run) midpoint() float64 {
	hi := max(r.Hi, r.Lo, 0).Seconds()
	lo := min(max(r.Lo.Seconds(), 0.02*hi), hi)
	return max(shortest, (lo+hi)/2)
}

// effective returns Kish's effective sample size, 1 / sum w^2.
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

// quantile returns the p-quantile of values, interpolated between order
// statistics.
func quantile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
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

// A mode is a group of at least two runs, far from all others: builds with a warm
// cache, say, as opposed to those with a cold one. Its runs are sorted.
type mode struct{ sample }

func (m mode) shortest() float64 { return math.Exp(m.ln[0]) }
func (m mode) longest() float64  { return math.Exp(m.ln[len(m.ln)-1]) }
func (m mode) median() float64   { return math.Exp(quantile(m.ln, 0.5)) }

// modes returns the modes of the sample, shortest first, or nil if there are fewer
// than two. A run that is far from all others belongs to none.
func (s sample) modes() []mode {
	sorted := s.sorted()
	var modes []mode
	for start, i := 0, 1; i <= len(sorted.ln); i++ {
		if i < len(sorted.ln) && sorted.ln[i]-sorted.ln[i-1] < modeGap {
			continue
		}
		m := mode{sample{ln: sorted.ln[start:i], w: sorted.w[start:i]}}
		if i-start >= 2 && sum(m.w) >= modeWeight {
			modes = append(modes, m)
		}
		start = i
	}
	if len(modes) < 2 || !apart(modes) {
		return nil
	}
	return modes
}

// sorted returns the logarithms and weights of s, shortest run first.
func (s sample) sorted() (sorted sample) {
	order := make([]int, len(s.ln))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.ln[a], s.ln[b]) })
	for _, i := range order {
		sorted.ln = append(sorted.ln, s.ln[i])
		sorted.w = append(sorted.w, s.w[i])
	}
	return sorted
}

// apart reports whether every gap is wide compared with the spread within the
// modes.
func apart(modes []mode) bool {
	spread := math.Sqrt(within(modes))
	for i := 1; i < len(modes); i++ {
		if modes[i].ln[0]-modes[i-1].ln[len(modes[i-1].ln)-1] < modeSpread*spread {
			return false
		}
	}
	return true
}

// within returns the weighted variance of the logarithms around the means of their
// modes.
func within(modes []mode) float64 {
	var squares, weight float64
	for _, m := range modes {
		_, variance := moments(m.ln, m.w)
		squares += sum(m.w) * variance
		weight += sum(m.w)
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

// priorSD is the standard deviation of the logarithms that is assumed before there
// are any runs. It weighs as much as one run.
const priorSD = 0.3

// bandwidth returns the standard deviation of the kernels.
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

const sqrt2Pi = 2.50662827463100050241576528481104525300698674061

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
