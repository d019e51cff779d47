package backoff

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// strata is the number of draws that a mean is computed from.
const strata = 128

// bounds is what can be said of a wait that depends on chance.
type bounds struct{ mean, min, max time.Duration }

// A spread walks along a schedule and computes the bounds of each wait.
//
// It asks the schedule with chosen draws instead of random ones. The smallest
// and the largest draw give the bounds; draws in the middles of equal strata give
// the mean, exactly where the wait grows evenly with the draw. For the sake of
// schedules that ask for the previous wait, the distribution of each wait is kept.
type spread struct {
	schedule Schedule
	low      time.Duration // the wait before, had every draw been the smallest
	high     time.Duration // ... the largest
	previous []mass
	draws    *draws
	rand     *rand.Rand
}

func newSpread(s Schedule) *spread {
	d := &draws{}
	return &spread{schedule: s, previous: []mass{{weight: 1}}, draws: d, rand: rand.New(d)}
}

// next returns the bounds of wait n, elapsed after the start.
func (p *spread) next(n int, elapsed time.Duration) bounds {
	step := Step{N: n, Elapsed: elapsed}
	previous := p.previous
	if !p.chained(step) {
		previous = []mass{{weight: 1}}
	}
	p.low = p.ask(step, p.low, smallest, smallest)
	p.high = p.ask(step, p.high, largest, largest)
	if p.low == p.high {
		p.previous = []mass{{weight: 1, total: float64(p.low)}}
		return bounds{p.low, p.low, p.low}
	}
	mean := p.distribute(step, previous)
	return bounds{mean, p.low, p.high}
}

// chained reports whether the wait at step depends on the one before.
func (p *spread) chained(step Step) bool {
	middle := draw(0.5)
	return p.ask(step, p.low, middle, middle) != p.ask(step, p.high, middle, middle)
}

// distribute takes the distribution of the previous wait to that of the wait at
// step and returns its mean.
func (p *spread) distribute(step Step, previous []mass) time.Duration {
	var bins [1 + 63*binsPerOctave]mass
	var mean float64
	for _, m := range previous {
		before, weight := saturate(m.total/m.weight), m.weight/strata
		for i := range strata {
			first := (float64(i) + 0.5) / strata
			_, second := math.Modf((float64(i) + 0.5) * math.Phi)
			wait := float64(p.ask(step, before, draw(first), draw(second)))
			bin := &bins[int(binsPerOctave*math.Log2(max(1, wait)))]
			bin.weight += weight
			bin.total += weight * wait
			mean += weight * wait
		}
	}
	p.previous = slices.DeleteFunc(bins[:], func(m mass) bool { return m.weight == 0 })
	return saturate(mean)
}

// binsPerOctave is how many masses a doubling of the wait is divided into.
const binsPerOctave = 4

// A mass is the part of a distribution that lies near one wait.
type mass struct {
	weight float64 // its probability
	total  float64 // its mean in nanoseconds, times its probability
}

// ask returns the wait at step after previous, if these are the first draws.
func (p *spread) ask(step Step, previous time.Duration, first, second uint64) time.Duration {
	p.draws.chosen = [2]uint64{first, second}
	p.draws.asked = 0
	step.Previous = previous
	return p.schedule.Wait(step, p.rand)
}

// The extreme draws. 0 would not do: rand.Rand.Int64N may reject it.
const (
	smallest uint64 = 1
	largest  uint64 = math.MaxUint64
)

// draw returns the random bits that become u, from 0 to 1: rand.Rand.Float64
// looks at the lower 53, rand.Rand.Int64N at the upper ones.
func draw(u float64) uint64 {
	lower := uint64(u * (1 << 53))
	return lower>>42<<53 | lower
}

// draws is a source of chosen random bits. A schedule that asks for more of them
// gets ordinary ones, so that one which draws until it likes the number comes to
// an end.
type draws struct {
	chosen [2]uint64
	asked  int
	rest   rand.PCG
}

// Uint64 returns the next number.
func (d *draws) Uint64() uint64 {
	d.asked++
	if d.asked > len(d.chosen) {
		return d.rest.Uint64()
	}
	return d.chosen[d.asked-1]
}
