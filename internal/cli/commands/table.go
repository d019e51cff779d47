package commands

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
)

// A table computes when the attempts of a schedule start, assuming that an attempt takes no time.
type table struct {
	schedule     backoff.Schedule
	rand         *rand.Rand    // the source for the random waits of one run; nil means the mean waits of many runs
	attempts     int           // the maximum number of rows; 0 means no limit
	timeout      time.Duration // the latest start of an attempt; 0 means no limit
	further      int           // how many rows to add after the timeout
	immediate    bool          // whether the first attempt starts without a wait
	initialDelay time.Duration // the time before the first wait
}

// A row describes an attempt and the wait before it.
type row struct {
	Attempt              int
	Wait, Min, Max       time.Duration // the mean, shortest and longest wait
	At, Earliest, Latest time.Duration // when the attempt starts: the sum of the mean, shortest or longest waits so far
}

// maxRows limits the number of rows, so that a typing error in a flag does not use up the memory.
const maxRows = 100_000

// checkLength returns a usage error if a table has more than maxRows rows.
func checkLength(rows int) error {
	if rows > maxRows {
		return argv.Usagef("the table has more than %d rows", maxRows)
	}
	return nil
}

// rows returns the rows of the table. If there are more than maxRows rows, it returns only the first maxRows+1.
func (t table) rows() (rows []row) {
	r := row{At: t.initialDelay, Earliest: t.initialDelay, Latest: t.initialDelay}
	waits := newSampler(t.schedule, t.rand)
	for n := 0; (t.attempts <= 0 || n < t.attempts) && len(rows) <= maxRows; n++ {
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
		rows = append(rows, r)
	}
	return rows
}

// A sampler simulates the waits of many runs at the same time, to compute the mean of each wait.
//
// In each step, the random numbers of the runs are spread evenly between 0 and 1. They are also spread evenly over
// the runs in the order of their previous waits: in this order, run i uses the second coordinate of point i of a
// Fibonacci lattice. Therefore the mean is exact for a wait that is a linear function of the random number. For any
// other wait, the mean is close to the true mean.
type sampler struct {
	schedule  backoff.Schedule
	single    *rand.Rand // the source of random numbers for a single run; nil for many runs
	rand      *rand.Rand // the source for many runs, which returns the number in drawn
	drawn     number
	runs      []time.Duration // the previous wait of each run
	low, high time.Duration   // the previous wait if all random numbers so far were the smallest, or the largest
}

func newSampler(schedule backoff.Schedule, single *rand.Rand) *sampler {
	s := &sampler{schedule: schedule, single: single, runs: make([]time.Duration, lattice)}
	s.rand = rand.New(&s.drawn)
	return s
}

// The size of the Fibonacci lattice, and the step between its points. Both are Fibonacci numbers.
const (
	lattice     = 987
	latticeStep = 610
)

// next returns the mean, the minimum and the maximum of wait number n. elapsed is the time from the start of the run
// to the start of the wait.
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

// A number is a [rand.Source] that makes [rand.Rand.Float64] return the number itself, which must be between 0 and
// 1.
type number float64

// Uint64 returns bits that Float64 converts to n. For 1, Float64 returns the largest number below 1.
func (n *number) Uint64() uint64 { return min(uint64(*n*(1<<53)), 1<<53-1) }
