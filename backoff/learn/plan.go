package learn

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// defaultShare is the default cost of an attempt as a share of the median run. At
// 1% a run takes about five attempts.
const defaultShare = 0.01

// A Cost is what an attempt costs, as a delay: an attempt is made if it is expected
// to save more than that. It is either a share of the median run or a time. The zero
// value is 1% of the median run.
type Cost struct {
	// Share is the cost as a share of the median run: 0.01 for 1%. 0 or less means
	// the default; other values count as the nearest from 1e-6 to 1e6. Share is
	// ignored if Delay is set.
	Share float64
	// Delay is the cost as a time. 0 or less means that Share applies.
	Delay time.Duration
}

// The limits of a share. Far beyond them the arithmetic of a plan ends in
// infinities.
const (
	leastShare = 1e-6
	mostShare  = 1e6
)

// ParseCost parses a cost: "1%" is a share of the median run, from 0.0001% to
// 100%, and "2s" a delay above 0.
func ParseCost(s string) (Cost, error) {
	if number, ok := strings.CutSuffix(s, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent/100 >= leastShare && percent <= 100) {
			return Cost{}, fmt.Errorf("%q: want a percentage from 0.0001%% to 100%%", s)
		}
		return Cost{Share: percent / 100}, nil
	}
	delay, err := time.ParseDuration(s)
	if err != nil || delay <= 0 {
		return Cost{}, fmt.Errorf("%q: want a percentage of the median such as 1%%, or a duration above 0 such as 2s", s)
	}
	return Cost{Delay: delay}, nil
}

// String returns c in the form that [ParseCost] parses.
func (c Cost) String() string {
	if c.Delay > 0 {
		return c.Delay.String()
	}
	return strconv.FormatFloat(math.Round(c.share()*1e8)/1e6, 'g', -1, 64) + "%"
}

// earlyGap is the longest gap between attempts at the default cost, as a share of
// the median. It halves the time until an early failure is seen, for one more
// attempt a run.
const earlyGap = 0.5

// At the default cost the gaps within a mode, with a margin on both sides, are at
// most modeMaxGap of its median. A wide mode gets at most modeMaxAttempts for this
// reason.
const (
	modeMaxGap      = 0.12
	modeMaxAttempts = 10
	modeBefore      = 0.9  // of the shortest run
	modeAfter       = 1.25 // of the longest run
)

// stretches returns what an attempt costs at each age. A share refers to the median of
// the mode that ends next: the first attempts of an operation that takes 5 s or 45 s must
// not be as rare as if it always took 45 s.
func (c Cost) stretches(s sample) []stretch {
	modes := s.modes()
	if c.Delay > 0 || modes == nil {
		median, _ := s.quantile(0.5)
		return []stretch{c.stretch(math.Inf(1), median)}
	}
	var list []stretch
	for i, mode := range modes {
		until := math.Inf(1)
		if i+1 < len(modes) {
			until = math.Sqrt(mode[len(mode)-1].x * modes[i+1][0].x)
		}
		list = append(list, c.ofMode(mode, until)...)
	}
	return list
}

// ofMode returns the costs until the given age if the mode ends next. In a mode that is
// narrow and rare, the cost alone leads to about one attempt. A run only slightly longer
// than the others would then be seen when the next mode ends. So at the default cost the
// gaps within a mode are limited.
func (c Cost) ofMode(mode sample, until float64) []stretch {
	_, ln := mode.quantile(0.5)
	median := math.Exp(ln)
	whole := c.stretch(until, median)
	if !c.isDefault() {
		return []stretch{whole}
	}
	before, within := whole, whole
	before.until = modeBefore * mode[0].x
	within.until = min(modeAfter*mode[len(mode)-1].x, until)
	within.maxGap = max(modeMaxGap*median, (within.until-before.until)/modeMaxAttempts)
	return []stretch{before, within, whole}
}

func (c Cost) stretch(until, median float64) stretch {
	s := stretch{until, c.share() * median, math.Inf(1)}
	switch {
	case c.Delay > 0:
		s.cost = c.Delay.Seconds()
	case c.isDefault():
		s.maxGap = earlyGap * median
	}
	return s
}

func (c Cost) share() float64 {
	if c.Share > 0 {
		return min(max(c.Share, leastShare), mostShare)
	}
	return defaultShare
}

func (c Cost) isDefault() bool { return c.Delay <= 0 && c.share() == defaultShare }

// phase is added to the counts at which attempts are made. It measured a little
// better than 0 when attempts are expensive, and no worse when they are cheap.
const phase = 0.2

// A plan is the planned number of attempts by each age, N(t). Attempts are made
// when it passes 1.2, 2.2, 3.2 and so on. It depends on the age alone.
type plan struct {
	age, count []float64 // seconds, attempts; both increase from 0
	last       float64   // attempts per second beyond the last age, above 0
}

// A stretch is a range of ages over which an attempt costs the same.
type stretch struct {
	until  float64 // age in seconds
	cost   float64 // of an attempt, in seconds of delay
	maxGap float64 // the longest time between attempts in seconds, may be +Inf
}

// floor returns the lowest density of attempts that leaves no gap above maxGap. The
// first attempt is at a count of 1 + phase.
func (s stretch) floor(age float64) float64 {
	if age <= s.maxGap {
		return (1 + phase) / s.maxGap
	}
	return 1 / s.maxGap
}

// newPlan integrates the density of attempts that balances their cost with the
// delay they save, sqrt(hazard / (2 cost)) (Keller 1974; Ling, Mi & Lin 2001), but
// at least 1/maxGap. The last stretch has no end.
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
	p := plan{age: make([]float64, 1, len(grid)+1), count: make([]float64, 1, len(grid)+1)}
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

// next returns the age in seconds of the first attempt after age.
func (p plan) next(age float64) float64 {
	// An attempt at its planned age may have a count just below what it should be.
	const slack = 1e-6
	n := math.Floor(p.attempts(age)-phase+slack) + 1
	return p.when(max(n, 1) + phase)
}

// attempts returns N(age).
func (p plan) attempts(age float64) float64 { return interpolate(p.age, p.count, age, p.last, 1) }

// when returns the age at which N is count, the inverse of attempts.
func (p plan) when(count float64) float64 { return interpolate(p.count, p.age, count, 1, p.last) }

// interpolate returns the value at x of the line through the points of xs and ys, which
// continues with a slope of rise/run.
func interpolate(xs, ys []float64, x, rise, run float64) float64 {
	end := len(xs) - 1
	if x >= xs[end] {
		return ys[end] + (x-xs[end])*rise/run
	}
	i := max(1, sort.SearchFloat64s(xs, x))
	part := (x - xs[i-1]) / (xs[i] - xs[i-1])
	return ys[i-1] + part*(ys[i]-ys[i-1])
}
