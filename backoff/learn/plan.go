package learn

import (
	"math"
	"sort"
)

// A plan holds the age of the wait at each attempt.
type plan struct {
	ages []float64 // in seconds, increasing; at least one
	// After the last of ages only the broad component of the forecast is left. Further attempts are best where
	// the square root of median + age has grown by growth since the previous attempt.
	median, growth float64
}

const (
	perAttempt  = 8       // the steps of the grid for each attempt
	mostPlanned = 1 << 10 // the highest number of attempts in a plan
)

// newPlan returns the attempts with the least expected cost. cost is the cost of an attempt, as a delay in
// seconds. The attempts are found by dynamic programming (Barlow, Hunter & Proschan 1963).
func newPlan(f forecast, cost float64) plan {
	g := f.grid(cost)
	next := g.solve(cost, f)
	p := plan{median: f.median, growth: math.Sqrt(cost / 2)}
	for i := 0; i < len(next); i = next[i] {
		p.ages = append(p.ages, g.ages[next[i]])
	}
	return p
}

// A grid holds the ages where an attempt is possible, starting with 0, and the forecast at these ages.
type grid struct {
	ages, survival, lived []float64 // ages in seconds; lived is the integral of survival
}

// grid returns the ages where an attempt is possible. They end where only the broad component is left, or where
// they are enough for mostPlanned attempts. There are perAttempt steps for each attempt. Where the hazard h
// changes slowly, the best gap between attempts is sqrt(2 cost / h) (Keller 1974).
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

// resolution returns the longest step of the grid at age, in seconds, that does not skip a kernel. It returns
// +Inf if all kernels end before age.
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

// solve returns the index of the best age for the next attempt, for each age except the last.
//
// Let S be the survival, L the integral of S, and c the cost of an attempt. V(i) is the expected cost after an
// attempt at t(i) that has not seen the end, times S(i). If the next attempt is at t(j), the expected delay is
// the integral of S(i) - S(t) from t(i) to t(j):
//
//	V(i) = min over j > i of c S(i) + (t(j) - t(i)) S(i) - (L(j) - L(i)) + V(j)
//
// The later an attempt, the later the best next attempt, so few j have to be tried.
func (g *grid) solve(cost float64, f forecast) []int {
	last := len(g.ages) - 1
	next := make([]int, last)
	value := make([]float64, last+1)
	// After the grid, attempts continue at the best rate for the broad component.
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
	// Rounding may put an attempt slightly earlier than its planned age. Without slack, the same attempt would
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
