package backoff

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Table tabulates a schedule. The zero value is an endless table of
// Exponential{}.
type Table struct {
	// Schedule is the schedule to tabulate. nil means Exponential{}.
	Schedule Schedule
	// Attempts is the largest number of rows. 0 means no limit.
	Attempts int
	// Timeout is when the last attempt may start, in time since the start of the
	// run. 0 means no limit.
	Timeout time.Duration
	// Immediate leaves out the first wait: the first attempt starts at once, and
	// the second one after the second wait.
	Immediate bool
	// InitialDelay passes before the first wait.
	InitialDelay time.Duration
}

// A Row is an attempt and the wait before it. Attempts are assumed to take no
// time.
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

// Rows returns the rows of t, without end if neither Attempts nor Timeout is set.
// Means are computed, not sampled. They are exact if the wait is linear in the
// number drawn, and within 1% if a cap cuts off some of the draws.
func (t Table) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		row := Row{At: t.InitialDelay, Earliest: t.InitialDelay, Latest: t.InitialDelay}
		waits := newEstimator(orExponential(t.Schedule))
		for n := 0; t.Attempts <= 0 || n < t.Attempts; n++ {
			row.Attempt = n + 1
			if n > 0 || !t.Immediate {
				row.Wait, row.Min, row.Max = waits.next(n, row.At)
				row.At = Add(row.At, row.Wait)
				row.Earliest = Add(row.Earliest, row.Min)
				row.Latest = Add(row.Latest, row.Max)
			}
			if t.Timeout > 0 && row.At > t.Timeout || !yield(row) {
				return
			}
		}
	}
}

// An estimator walks along a schedule and computes the mean and the bounds of each
// wait.
//
// Instead of random numbers it gives the schedule chosen ones. The smallest and
// the largest number give the bounds; the midpoints of equal strata give the
// mean, which is exact if the wait is linear in the number. For schedules that
// look at the previous wait, it keeps the distribution of each wait.
type estimator struct {
	schedule  Schedule
	low, high time.Duration // the previous wait if every draw was the smallest, the largest
	previous  []mass        // the distribution of the previous wait
	draws     draws
	rand      *rand.Rand
}

func newEstimator(s Schedule) *estimator {
	e := &estimator{schedule: s, previous: []mass{{weight: 1}}}
	e.rand = rand.New(&e.draws)
	return e
}

// next returns the mean and the bounds of wait n, elapsed after the start.
func (e *estimator) next(n int, elapsed time.Duration) (mean, low, high time.Duration) {
	step := Step{N: n, Elapsed: elapsed}
	previous := e.previous
	if middle := draw(0.5); e.ask(step, e.low, middle, middle) == e.ask(step, e.high, middle, middle) {
		previous = []mass{{weight: 1}} // the wait does not depend on the previous one
	}
	e.low = e.ask(step, e.low, smallest, smallest)
	e.high = e.ask(step, e.high, largest, largest)
	if e.low == e.high {
		e.previous = []mass{{weight: 1, total: float64(e.low)}}
		return e.low, e.low, e.low
	}
	return e.distribute(step, previous), e.low, e.high
}

const (
	strata        = 128 // draws for a mean
	binsPerOctave = 4   // bins between a wait and twice that wait
)

// A mass is the part of a distribution that lies in one bin.
type mass struct {
	weight float64 // its probability
	total  float64 // its mean in nanoseconds, times its probability
}

// distribute computes the distribution of the wait at step, keeps it as the previous one,
// and returns its mean.
func (e *estimator) distribute(step Step, previous []mass) time.Duration {
	var bins [1 + 63*binsPerOctave]mass
	var mean float64
	for _, m := range previous {
		before, weight := saturate(m.total/m.weight), m.weight/strata
		for i := range strata {
			first := (float64(i) + 0.5) / strata
			_, second := math.Modf((float64(i) + 0.5) * math.Phi)
			wait := float64(e.ask(step, before, draw(first), draw(second)))
			bin := &bins[int(binsPerOctave*math.Log2(max(1, wait)))]
			bin.weight += weight
			bin.total += weight * wait
			mean += weight * wait
		}
	}
	e.previous = slices.DeleteFunc(bins[:], func(m mass) bool { return m.weight == 0 })
	return saturate(mean)
}

// ask returns the wait at step if these are the previous wait and the first
// numbers drawn.
func (e *estimator) ask(step Step, previous time.Duration, first, second uint64) time.Duration {
	e.draws.chosen = [2]uint64{first, second}
	e.draws.asked = 0
	step.Previous = previous
	return e.schedule.Wait(step, e.rand)
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

// draws is a source of chosen numbers, followed by random ones, so that a schedule that
// rejects some of its draws terminates.
type draws struct {
	chosen [2]uint64
	asked  int
	rest   rand.PCG
}

// Uint64 returns the next number.
func (d *draws) Uint64() uint64 {
	if d.asked == len(d.chosen) {
		return d.rest.Uint64()
	}
	d.asked++
	return d.chosen[d.asked-1]
}
