// Package backoff computes how long to wait before each attempt.
//
// A [Schedule] is a pure function: it keeps no state, so it can be tabulated,
// resumed at any age, shared by goroutines and tested as a table of numbers.
// What grows is a strategy ([Exponential], [Fixed], [Linear], [Fibonacci],
// [Polynomial]); what spreads it by chance is a jitter ([Full], [Equal],
// [Decorrelated]); what bounds it is a [Cap]. They wrap one another:
//
//	s := backoff.Full{Of: backoff.Cap{Of: backoff.Exponential{}, Max: 20 * time.Second}}
//
// [Config] builds the usual combinations from names and numbers, [Table] shows a
// schedule as a table, and [Tune] and its neighbours choose parameters
// from what is wanted.
//
// All arithmetic is done in float64 and saturates: no wait is ever negative,
// whatever the parameters and however late the step.
package backoff

import (
	"iter"
	"math/rand/v2"
	"time"
)

// A Step is what is known when a wait is asked for.
type Step struct {
	// N counts the attempts that came before, so it is 0 before the first one.
	N int
	// Elapsed is the time since the start of the run or, where that starts the
	// operation, since the answer to the start.
	Elapsed time.Duration
	// Previous is the wait before this one, 0 if there was none.
	Previous time.Duration
}

// A Schedule is a rule for the wait before each attempt.
type Schedule interface {
	// Wait returns the wait at step s, never negative. A schedule without
	// chance in it does not touch r, which may then be nil.
	Wait(s Step, r *rand.Rand) time.Duration
}

// Waits enumerates the waits of s from step 0 on, without end. An attempt is
// taken to last no time, so Elapsed is the sum of the waits before. Ranging
// again starts at step 0 again; r, which may be nil for a schedule without
// chance in it, then simply goes on.
func Waits(s Schedule, r *rand.Rand) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var step Step
		for {
			wait := s.Wait(step, r)
			if !yield(wait) {
				return
			}
			step = step.next(wait)
		}
	}
}

// next returns the step after a wait and an attempt that lasts no time.
func (s Step) next(wait time.Duration) Step {
	return Step{N: s.N + 1, Elapsed: sum(s.Elapsed, wait), Previous: wait}
}
