package commands

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
)

// A table tabulates a schedule, for attempts that take no time.
type table struct {
	schedule     backoff.Schedule
	rand         *rand.Rand    // draws the waits of one run; nil for the means of many runs
	attempts     int           // the largest number of rows; 0 means no limit
	timeout      time.Duration // when the last attempt may start; 0 means no limit
	further      int           // the number of rows after the timeout
	immediate    bool          // the first attempt starts without a wait
	initialDelay time.Duration // passes before the first wait
}

// A row is a wait and its attempt, counted from 1.
type row struct {
	Attempt              int
	Wait, Min, Max       time.Duration // the mean wait and its bounds
	At, Earliest, Latest time.Duration // when the attempt starts: the sums of the waits so far
}

// maxRows keeps a typing error from filling the memory.
const maxRows = 100_000

// rows returns the rows of a table.
func (t table) rows() (rows []row, err error) {
	r := row{At: t.initialDelay, Earliest: t.initialDelay, Latest: t.initialDelay}
	waits := newSampler(t.schedule, t.rand)
	for n := 0; t.attempts <= 0 || n < t.attempts; n++ {
		r.Attempt = n + 1
		if n > 0 || !t.immediate {
			r.Wait, r.Min, r.Max = waits.next(n, r.At)
			r.At = words.Sum(r.At, r.Wait)
			r.Earliest = words.Sum(r.Earliest, r.Min)
			r.Latest = words.Sum(r.Latest, r.Max)
		}
		if t.timeout > 0 && r.At > t.timeout {
			if t.further == 0 {
				break
			}
			t.further--
		}
		if len(rows) == maxRows {
			return nil, argv.Usagef("the table has more than %d rows", maxRows)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// A sampler draws the waits of many runs. The runs draw random numbers that are spread evenly from 0 to 1 in
// each step. The numbers are also spread evenly over the runs, sorted by their waits so far. To that end, run
// i of the sorted runs draws the second coordinate of point i of a Fibonacci lattice. So the mean of a wait
// that is linear in its number is exact. The mean of any other wait is near the mean of all runs.
type sampler struct {
	schedule  backoff.Schedule
	single    *rand.Rand // source of a single run; nil for many runs
	rand      *rand.Rand // source of many runs, which reads drawn
	drawn     number
	runs      []time.Duration // the previous waits of many runs
	low, high time.Duration   // the previous waits if every number was the smallest, and the largest
}

func newSampler(schedule backoff.Schedule, single *rand.Rand) *sampler {
	s := &sampler{schedule: schedule, single: single, runs: make([]time.Duration, lattice)}
	s.rand = rand.New(&s.drawn)
	return s
}

// The size of the lattice, and its step: two Fibonacci numbers.
const (
	lattice     = 987
	latticeStep = 610
)

// next returns the mean and the bounds of wait n, if the wait starts at the time elapsed since the start of
// the run.
func (s *sampler) next(n int, elapsed time.Duration) (mean, low, high time.Duration) {
	step := backoff.Step{N: n, Elapsed: elapsed, Previous: s.low}
	if s.single != nil {
		s.low = s.schedule.Wait(step, s.single)
		return s.low, s.low, s.low
	}
	wait := func(previous time.Duration, drawn number) time.Duration {
		step.Previous, s.drawn = previous, drawn
		return s.schedule.Wait(step, s.rand)
	}
	s.low, s.high = wait(s.low, 0), wait(s.high, 1)
	slices.Sort(s.runs)
	sum, isRandom := 0.0, s.low != s.high
	for i, previous := range s.runs {
		if s.runs[i] = s.low; isRandom {
			s.runs[i] = wait(previous, (number(i*latticeStep%lattice)+0.5)/lattice)
		}
		sum += float64(s.runs[i])
	}
	if !isRandom {
		return s.low, s.low, s.low
	}
	return words.Nanoseconds(sum / lattice), s.low, s.high
}

// A number, from 0 to 1, is a [rand.Source] that makes [rand.Rand.Float64] return the number itself.
type number float64

// Uint64 returns bits that Float64 converts to the number. For 1 the result is just below 1.
func (n *number) Uint64() uint64 { return min(uint64(*n*(1<<53)), 1<<53-1) }
