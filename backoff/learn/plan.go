package learn

import (
	"math"
	"slices"
	"sort"
)

// phase is where the first poll lies in the count of polls: measured a little
// better than 0 when polls are dear, and no worse when they are cheap.
const phase = 0.2

// A plan is the expected number of polls made by each age, N(t): polls are
// made where it passes 1.2, 2.2, 3.2 and so on. It depends on the age alone.
type plan struct {
	age, count []float64 // s, polls; both increase, age[0] = count[0] = 0
	last       float64   // polls per second past the grid, above 0
}

// A stretch is a range of ages over which a poll has one price.
type stretch struct {
	until  float64 // age in seconds
	cost   float64 // of a poll, in seconds of delay
	maxGap float64 // seconds, may be +Inf
}

// floor is the least density of polls that leaves no gap above maxGap; the
// first poll is one and the phase away from the start.
func (s stretch) floor(age float64) float64 {
	if age <= s.maxGap {
		return (1 + phase) / s.maxGap
	}
	return 1 / s.maxGap
}

// newPlan integrates the density of checks that balances their cost with the
// delay they save, sqrt(hazard / (2 cost)) (Keller 1974; Ling, Mi & Lin 2001),
// which is at least 1/maxGap. The last stretch goes on for ever.
func newPlan(m mixture, stretches []stretch) plan {
	grid := m.grid()
	for _, s := range stretches {
		for _, edge := range []float64{s.maxGap, s.until} {
			if edge < grid[len(grid)-1] {
				grid = append(grid, edge)
			}
		}
	}
	slices.Sort(grid)
	grid = slices.Compact(grid)
	p := plan{
		age:   append(make([]float64, 0, len(grid)+1), 0),
		count: append(make([]float64, 0, len(grid)+1), 0),
	}
	var previous float64
	for i, t := range grid {
		for len(stretches) > 1 && t >= stretches[0].until {
			stretches = stretches[1:]
		}
		price := stretches[0]
		density, survival := m.at(t)
		p.last = max(math.Sqrt(density/survival/(2*price.cost)), price.floor(t))
		if i == 0 {
			previous = p.last
		}
		step := (t - p.age[i]) * (p.last + previous) / 2
		p.age = append(p.age, t)
		p.count = append(p.count, p.count[i]+step)
		previous = p.last
	}
	return p
}

// next returns the age in seconds of the first poll after age.
func (p plan) next(age float64) float64 {
	// A poll at the planned age may count as a rounding error before it.
	const slack = 1e-6
	poll := math.Floor(p.polls(age)-phase+slack) + 1
	return p.when(max(poll, 1) + phase)
}

// polls is N(age).
func (p plan) polls(age float64) float64 {
	end := len(p.age) - 1
	if age >= p.age[end] {
		return p.count[end] + (age-p.age[end])*p.last
	}
	i := max(1, sort.SearchFloat64s(p.age, age))
	part := (age - p.age[i-1]) / (p.age[i] - p.age[i-1])
	return p.count[i-1] + part*(p.count[i]-p.count[i-1])
}

// when is the inverse of polls.
func (p plan) when(polls float64) float64 {
	end := len(p.count) - 1
	if polls >= p.count[end] {
		return p.age[end] + (polls-p.count[end])/p.last
	}
	i := max(1, sort.SearchFloat64s(p.count, polls))
	part := (polls - p.count[i-1]) / (p.count[i] - p.count[i-1])
	return p.age[i-1] + part*(p.age[i]-p.age[i-1])
}
