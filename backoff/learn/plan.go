package learn

import (
	"math"
	"sort"
)

// A plan contains the ages of the operation at which attempts are best.
type plan struct {
	ages []float64 // in seconds, in increasing order; at least one
	// median and growth determine the attempts after the last of ages, where only the broad component of the forecast
	// remains. From each of these attempts to the next attempt, sqrt(median + age) grows by growth. median is the
	// median of the broad component in seconds. growth is in the square root of seconds.
	median, growth float64
}

const (
	perAttempt  = 8       // steps of the grid for each attempt
	mostPlanned = 1 << 10 // maximum number of attempts in a plan
)

// newPlan returns the attempts with the lowest expected total cost. cost is the cost of an attempt, expressed as a
// delay in seconds. newPlan finds the attempts by dynamic programming (Barlow, Hunter & Proschan 1963).
func newPlan(f forecast, cost float64) plan {
	g := f.grid(cost)
	next := g.solve(cost, f)
	p := plan{median: f.median, growth: math.Sqrt(cost / 2)}
	for i := 0; i < len(next); i = next[i] {
		p.ages = append(p.ages, g.ages[next[i]])
	}
	return p
}

// A grid contains the ages at which an attempt is possible, starting at 0, and the forecast at each of these ages.
type grid struct {
	ages, survival, lived []float64 // ages are in seconds; lived is the integral of survival up to the age
}

// grid returns the ages at which an attempt is possible. Where the hazard h changes slowly, the best gap between
// attempts is sqrt(2 cost / h) (Keller 1974), and the grid divides such a gap into perAttempt steps. The grid ends
// where only the broad component remains, or when it suffices for mostPlanned attempts.
func (f forecast) grid(cost float64) *grid {
	g := &grid{ages: []float64{0}, survival: []float64{1}, lived: []float64{0}}
	age, survival := 0.0, 1.0
	for len(g.ages) < perAttempt*mostPlanned {
		hazard := f.density(max(age, shortest)) / survival
		step := f.resolution(age)
		if math.IsInf(step, 1) {
			break
		}
		age += min(step, math.Sqrt(2*cost/hazard)/perAttempt)
		before := survival
		survival = f.survival(math.Log(age))
		last := len(g.ages) - 1
		g.lived = append(g.lived, g.lived[last]+(age-g.ages[last])*(before+survival)/2)
		g.ages = append(g.ages, age)
		g.survival = append(g.survival, survival)
	}
	return g
}

// resolution returns the longest step of the grid at age that does not skip a kernel. Both are in seconds. If all
// kernels end before age, resolution returns +Inf.
func (f forecast) resolution(age float64) float64 {
	ln := math.Log(age)
	narrowest, start := math.Inf(1), math.Inf(1)
	for _, k := range f.kernels {
		switch from := k.mean - reach*k.sd; {
		case ln < from:
			start = min(start, from)
		case ln < k.mean+reach*k.sd:
			narrowest = min(narrowest, k.sd)
		}
	}
	step := max(math.Exp(start)-age, 1e-3*age)
	if !math.IsInf(narrowest, 1) {
		step = min(step, narrowest/2*age)
	}
	return step
}

// solve returns, for each age except the last, the index of the best age for the next attempt.
//
// Let S be the survival, L the integral of S, and c the cost of an attempt. V(i) is the expected cost after an
// attempt at t(i) that found the operation unfinished, multiplied by S(i). If the next attempt is at t(j), the
// expected delay is the integral of S(i) - S(t) from t(i) to t(j):
//
//	V(i) = min over j > i of c S(i) + (t(j) - t(i)) S(i) - (L(j) - L(i)) + V(j)
//
// The later an attempt is, the later the best next attempt is. Therefore only a few j have to be tried for each i.
func (g *grid) solve(cost float64, f forecast) []int {
	last := len(g.ages) - 1
	next := make([]int, last)
	value := make([]float64, last+1)
	// After the grid, attempts continue at the rate that is best for the broad component.
	value[last] = 2 * f.broad * f.median * math.Sqrt(2*cost/(f.median+g.ages[last]))
	latest := last
	for i := last - 1; i >= 0; i-- {
		value[i] = math.Inf(1)
		for j := i + 1; j <= latest; j++ {
			delay := (g.ages[j]-g.ages[i])*g.survival[i] - (g.lived[j] - g.lived[i])
			if v := cost*g.survival[i] + delay + value[j]; v < value[i] {
				value[i], next[i] = v, j
			}
		}
		latest = next[i]
	}
	return next
}

// next returns the age of the first attempt after age. Both are in seconds.
func (p plan) next(age float64) float64 {
	// Rounding may put an attempt slightly before its planned age. Without this tolerance, the same attempt would
	// then follow again.
	const slack = 1e-6
	i := sort.Search(len(p.ages), func(i int) bool { return p.ages[i]*(1-slack) > age })
	if i < len(p.ages) {
		return p.ages[i]
	}
	start := math.Sqrt(p.median + p.ages[i-1])
	n := math.Floor((math.Sqrt(p.median+age)-start)/p.growth+slack) + 1
	root := start + max(n, 1)*p.growth
	return root*root - p.median
}
