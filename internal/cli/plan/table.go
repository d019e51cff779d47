package plan

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
)

// A table tabulates a schedule, for attempts that take no time.
type table struct {
	schedule     backoff.Schedule
	attempts     int           // the largest number of rows; 0 means no limit
	timeout      time.Duration // when the last attempt may start; 0 means no limit
	immediate    bool          // the first attempt starts without a wait
	initialDelay time.Duration // passes before the first wait
}

// A row is an attempt, counted from 1, and the wait before it.
type row struct {
	Attempt              int
	Wait, Min, Max       time.Duration // the mean wait and its bounds
	At, Earliest, Latest time.Duration // when the attempt starts: the sums of the waits so far
}

// rows returns the rows of t, without end if it has no limit. Means are computed, not
// sampled. They are exact if the wait is linear in the number drawn, and within 1% if a
// cap cuts off some of the draws.
func (t table) rows() iter.Seq[row] {
	return func(yield func(row) bool) {
		r := row{At: t.initialDelay, Earliest: t.initialDelay, Latest: t.initialDelay}
		waits := &estimator{schedule: t.schedule, previous: []mass{{weight: 1}}}
		waits.rand = rand.New(&waits.drawn)
		for n := 0; t.attempts <= 0 || n < t.attempts; n++ {
			r.Attempt = n + 1
			if n > 0 || !t.immediate {
				r.Wait, r.Min, r.Max = waits.next(n, r.At)
				r.At = words.Sum(r.At, r.Wait)
				r.Earliest = words.Sum(r.Earliest, r.Min)
				r.Latest = words.Sum(r.Latest, r.Max)
			}
			if t.timeout > 0 && r.At > t.timeout || !yield(r) {
				return
			}
		}
	}
}

// An estimator walks along a schedule and computes the mean and the bounds of each wait.
//
// The schedule draws at most one number for a wait, and the estimator chooses it. The
// smallest and the largest number give the bounds. The midpoints of equal strata give the
// mean. For a schedule that depends on the previous wait, the estimator keeps the
// distribution of each wait.
type estimator struct {
	schedule  backoff.Schedule
	low, high time.Duration // the previous wait if every draw was the smallest, the largest
	previous  []mass        // the distribution of the previous wait
	drawn     number
	rand      *rand.Rand // reads drawn
}

// next returns the mean and the bounds of wait n, elapsed after the start.
func (e *estimator) next(n int, elapsed time.Duration) (mean, low, high time.Duration) {
	step := backoff.Step{N: n, Elapsed: elapsed}
	previous := e.previous
	if e.wait(step, e.low, 0.5) == e.wait(step, e.high, 0.5) {
		previous = []mass{{weight: 1}} // the wait does not depend on the previous one
	}
	e.low, e.high = e.wait(step, e.low, 0), e.wait(step, e.high, 1)
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
func (e *estimator) distribute(step backoff.Step, previous []mass) time.Duration {
	var bins [1 + 63*binsPerOctave]mass
	var mean float64
	for _, m := range previous {
		before, weight := words.Nanoseconds(m.total/m.weight), m.weight/strata
		for i := range strata {
			wait := float64(e.wait(step, before, (number(i)+0.5)/strata))
			bin := &bins[int(binsPerOctave*math.Log2(max(1, wait)))]
			bin.weight += weight
			bin.total += weight * wait
			mean += weight * wait
		}
	}
	e.previous = slices.DeleteFunc(bins[:], func(m mass) bool { return m.weight == 0 })
	return words.Nanoseconds(mean)
}

// wait returns the wait at step if these are the previous wait and the number drawn.
func (e *estimator) wait(step backoff.Step, previous time.Duration, drawn number) time.Duration {
	step.Previous, e.drawn = previous, drawn
	return e.schedule.Wait(step, e.rand)
}

// A number, from 0 to 1, is a source of itself for [rand.Rand.Float64].
type number float64

// Uint64 returns the bits that Float64 reads as the number, just below 1 for 1.
func (n *number) Uint64() uint64 { return min(uint64(*n*(1<<53)), 1<<53-1) }
