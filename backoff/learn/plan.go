package learn

import (
	"math"
	"sort"
)

// A plan is the ages of attempts, which depend on nothing else.
type plan struct {
	ages []float64 // in seconds, increasing; at least one
	// After them only the broad component is left, for which attempts are best made as the square
	// root of the age and its median grows by a constant.
	median, growth float64
}

const (
	perAttempt  = 8       // steps of the grid for each attempt
	mostPlanned = 1 << 10 // attempts
)

// newPlan returns the attempts with the least expected cost, if each costs so many seconds of
// delay. They are found by dynamic programming. An attempt costs more if 99 of 100 runs would
// otherwise take more than half of mostPlanned.
func newPlan(f forecast, cost float64) plan {
	steps, usual := f.attempts(cost)
	if excess := usual / (mostPlanned / 2); excess > 1 {
		cost *= excess * excess
		for i := range steps {
			steps[i] /= excess
		}
	}
	g := f.subdivide(steps)
	next := g.solve(cost, f)
	p := plan{median: f.median, growth: math.Sqrt(cost / 2)}
	for i := 0; i < len(next); i = int(next[i]) {
		p.ages = append(p.ages, g.ages[next[i]])
	}
	return p
}

// attempts returns how many attempts are best between one age of the table and the next, and
// how many until 99 of 100 runs have ended. Where the hazard h changes slowly their rate is
// sqrt(h / (2 cost)) (Keller 1974).
func (f forecast) attempts(cost float64) (steps []float64, usual float64) {
	steps = make([]float64, len(f.ages)-1)
	for i := range steps {
		a, b := f.ages[i], f.ages[i+1]
		density, survival := f.at((a + b) / 2)
		steps[i] = (b - a) * math.Sqrt(density/survival/(2*cost))
		if survival >= 0.01 {
			usual += steps[i]
		}
	}
	return steps, usual
}

// A grid is the ages at which an attempt may be, from 0.
type grid struct {
	ages, survival, lived []float64 // lived is the integral of the survival
}

// subdivide returns a grid with several ages for each attempt, and at least those of the table. It
// ends with the table, or after so many attempts that no one makes them.
func (f forecast) subdivide(steps []float64) *grid {
	room := 2 * len(steps) // usually enough
	first := func(value float64) []float64 { return append(make([]float64, 0, room), value) }
	g := &grid{ages: first(0), survival: first(1), lived: first(0)}
	all := 0.0
	for i, attempts := range steps {
		attempts = min(attempts, mostPlanned)
		if all += attempts; i > 0 && all > mostPlanned {
			break
		}
		n := max(1, math.Ceil(perAttempt*attempts))
		for j := 1.0; j <= n; j++ {
			part := j / n
			age := f.ages[i] + part*(f.ages[i+1]-f.ages[i])
			kernels := f.kernels[i] + part*(f.kernels[i+1]-f.kernels[i])
			g.add(age, kernels+f.broad/(1+age/f.median))
		}
	}
	return g
}

func (g *grid) add(age, survival float64) {
	end := len(g.ages) - 1
	lived := g.lived[end] + (age-g.ages[end])*(g.survival[end]+survival)/2
	g.ages = append(g.ages, age)
	g.survival = append(g.survival, survival)
	g.lived = append(g.lived, lived)
}

// solve returns for each age but the last the index of the best age for the next attempt.
//
// Let S be the survival, L its integral, c the cost of an attempt, and V(i) what is expected after
// an attempt at t(i) that has not seen the end, times the chance S(i) of that. If the next attempt
// is at t(j), the delay until it is S(i) - S(t), integrated from t(i) to t(j):
//
//	V(i) = min over j > i of c S(i) + (t(j) - t(i)) S(i) - (L(j) - L(i)) + V(j)
//
// For a fixed j this is a line in S(i). Backwards, S(i) grows and the slopes t(j) fall, so that
// the lower hull of the lines is a queue, and all takes time in proportion to the number of ages.
func (g *grid) solve(cost float64, f forecast) []int32 {
	last := len(g.ages) - 1
	next := make([]int32, last)
	// After the grid, attempts are at the best rate for the broad component.
	value := 2 * f.broad * f.median * math.Sqrt(2*cost/(f.median+g.ages[last]))
	hull := make([]line, 0, last)
	head := 0
	for i := last - 1; i >= 0; i-- {
		l := line{cost + g.ages[i+1], value - g.lived[i+1], int32(i + 1)}
		for len(hull)-head >= 2 && l.hides(hull[len(hull)-2], hull[len(hull)-1]) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, l)
		x := g.survival[i]
		for len(hull)-head >= 2 && hull[head+1].at(x) <= hull[head].at(x) {
			head++
		}
		next[i] = hull[head].age
		value = g.lived[i] - g.ages[i]*x + hull[head].at(x)
	}
	return next
}

// A line is the expected cost with the next attempt at some age, by the survival now.
type line struct {
	slope, value float64
	age          int32 // its index
}

func (l line) at(x float64) float64 { return l.value + l.slope*x }

// hides reports whether b is nowhere the lowest of a, b and l, whose slopes fall.
func (l line) hides(a, b line) bool {
	return (l.value-a.value)*(a.slope-b.slope) <= (b.value-a.value)*(a.slope-l.slope)
}

// next returns the age in seconds of the first attempt after age.
func (p plan) next(age float64) float64 {
	// An attempt at its planned age may seem to be just before it.
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
