package backoff

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Table tabulates a schedule. Its zero value is an endless table of
// Exponential{}.
type Table struct {
	// Schedule is what to tabulate. nil means Exponential{}.
	Schedule Schedule
	// Attempts is the largest number of rows. 0 means no limit.
	Attempts int
	// Timeout ends the table before the first attempt that starts later.
	// 0 means no limit.
	Timeout time.Duration
	// Immediate leaves out the first wait: the first attempt starts at once, and
	// the second one after the second wait.
	Immediate bool
	// InitialDelay passes before anything else.
	InitialDelay time.Duration
}

// A Row is one row of a [Table]: an attempt and the wait before it. Attempts are
// assumed to take no time.
type Row struct {
	// Attempt counts from 1.
	Attempt int
	// Wait is the mean wait before the attempt. Min and Max are its bounds, and
	// equal to it unless the wait is random.
	Wait, Min, Max time.Duration
	// At is when the attempt starts, in time since the start of the run: the
	// sum of the mean waits so far. Earliest and Latest are the sums of the
	// bounds.
	At, Earliest, Latest time.Duration
}

// Rows returns the rows of t, an endless sequence if neither Attempts nor Timeout
// is set. Means are computed, not sampled. They are exact where the wait is linear
// in the number drawn, and within 1% where a cap cuts off some of the draws.
func (t Table) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		row := Row{At: t.InitialDelay, Earliest: t.InitialDelay, Latest: t.InitialDelay}
		spread := newSpread(orExponential(t.Schedule))
		for n := 0; t.Attempts <= 0 || n < t.Attempts; n++ {
			row.Attempt = n + 1
			if n > 0 || !t.Immediate {
				row = row.after(spread.next(n, row.At))
			}
			if t.Timeout > 0 && row.At > t.Timeout || !yield(row) {
				return
			}
		}
	}
}

// after puts a wait before the attempt of r.
func (r Row) after(wait bounds) Row {
	r.Wait, r.Min, r.Max = wait.mean, wait.min, wait.max
	r.At = Add(r.At, wait.mean)
	r.Earliest = Add(r.Earliest, wait.min)
	r.Latest = Add(r.Latest, wait.max)
	return r
}

// Coverage tells how closely a schedule watches a moment: what an operation that
// completes just then costs in attempts, and how late it is noticed.
type Coverage struct {
	// Attempts is the number of attempts that have started by then.
	Attempts int
	// Last is when the last of them started, 0 if there was none.
	Last time.Duration
	// Next is when the next attempt starts, 0 if there is none.
	Next time.Duration
	// Delay is the longest time from a completion near that moment to the
	// attempt that notices it: the wait between Last and Next, at its longest.
	// It is 0 if there is no next attempt.
	Delay time.Duration
}

// Coverage returns how closely t watches the moment at, in time since the start.
// It returns an error if more than a million attempts come before it.
func (t Table) Coverage(at time.Duration) (Coverage, error) {
	const most = 1_000_000
	var c Coverage
	for row := range t.Rows() {
		if row.At > at {
			c.Next, c.Delay = row.At, row.Max
			return c, nil
		}
		if row.Attempt == most {
			return c, fmt.Errorf("look at the schedule at %v: more than %d attempts before it", at, most)
		}
		c.Attempts, c.Last = row.Attempt, row.At
	}
	return c, nil
}

// strata is the number of draws that a mean is computed from.
const strata = 128

// bounds describes a wait that may be random.
type bounds struct{ mean, min, max time.Duration }

// A spread walks along a schedule and computes the bounds of each wait.
//
// Instead of random numbers it gives the schedule chosen ones. The smallest and
// the largest number give the bounds; the midpoints of equal strata give the
// mean, which is exact if the wait is linear in the number. For schedules that
// look at the previous wait, it keeps the distribution of each wait.
type spread struct {
	schedule Schedule
	low      time.Duration // the previous wait, had every draw been the smallest
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

// chained reports whether the wait at step depends on the previous one.
func (p *spread) chained(step Step) bool {
	middle := draw(0.5)
	return p.ask(step, p.low, middle, middle) != p.ask(step, p.high, middle, middle)
}

// distribute replaces the distribution of the previous wait by that of the wait
// at step, and returns its mean.
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

// binsPerOctave is the number of bins between a wait and twice that wait.
const binsPerOctave = 4

// A mass is the part of a distribution that lies in one bin.
type mass struct {
	weight float64 // its probability
	total  float64 // its mean in nanoseconds, times its probability
}

// ask returns the wait at step if these are the previous wait and the first
// numbers drawn.
func (p *spread) ask(step Step, previous time.Duration, first, second uint64) time.Duration {
	p.draws.chosen = [2]uint64{first, second}
	p.draws.asked = 0
	step.Previous = previous
	return p.schedule.Wait(step, p.rand)
}

// The extreme draws. The smallest is not 0, which rand.Rand.Int64N may reject.
const (
	smallest uint64 = 1
	largest  uint64 = math.MaxUint64
)

// draw returns random bits that mean u, from 0 to 1, whether they are read by
// rand.Rand.Float64, which uses the lower 53, or by rand.Rand.Int64N, which uses
// the upper ones.
func draw(u float64) uint64 {
	lower := uint64(u * (1 << 53))
	return lower>>42<<53 | lower
}

// draws is a source of chosen numbers. After those it continues with ordinary
// random ones, so that a schedule which rejects some of its draws terminates.
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
