// Package backoff computes how long to wait before each attempt.
//
// A [Schedule] is a pure function of a [Step]. It keeps no state, so it can be resumed at any age, shared by
// goroutines and tested as a table of numbers. Schedules wrap one another:
//
//	s := backoff.Full(backoff.Cap(backoff.Exponential{}, 10*time.Second))
//
// A strategy defines the growth of the waits: [Exponential], [Fixed], [Linear], [Fibonacci], [Polynomial], or a
// [ScheduleFunc] of your own. A jitter spreads them at random: [Full], [Equal], [Decorrelated]. [Cap] bounds them,
// [Max] takes the longer of two, and [Throttled] slows a schedule down for a server that rejects attempts because
// of load. A nil schedule is Exponential{}.
//
// The zero values of strategies are ready for use. Exponential{} waits 100 ms, 200 ms, 400 ms and so on. [Waits]
// returns the waits of a schedule.
//
// Package learn has a schedule that is learned from past runs, and package simulate simulates the load of many
// clients on one service.
//
// Waits are computed in float64 and saturate. No parameters and no step lead to a negative wait or an overflow.
package backoff

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// DefaultBase is the first wait of most strategies. The pseudocode in the AWS General Reference waits 2^n * 100
// ms.
const DefaultBase = 100 * time.Millisecond

// DefaultMaxWait is the longest wait that [Cap] allows by default.
const DefaultMaxWait = 20 * time.Second

// A Step is the input from which a schedule computes a wait.
type Step struct {
	// N is the number of attempts so far, 0 before the first attempt.
	N int
	// Elapsed is the time since the start of the run. If the run itself starts the operation, it is the time since
	// the response to the start request.
	Elapsed time.Duration
	// Previous is the wait before the last attempt, 0 before the first wait.
	Previous time.Duration
	// Refusals is the number of THROTTLED responses so far that named no wait. Each of them doubles a constant
	// wait, such as a [Fixed] one, for all later steps.
	Refusals int
	// Longest is the bound of the outermost [Cap] around the schedule. Cap sets it; 0 means no bound.
	Longest time.Duration
}

// slowed returns a constant wait, doubled for each refusal up to the bound of the step.
func (s Step) slowed(wait time.Duration) time.Duration {
	doubled := words.Nanoseconds(math.Ldexp(float64(wait), s.Refusals))
	return max(wait, min(doubled, cmp.Or(s.Longest, slowest(wait))))
}

// slowest returns the bound of a constant wait that has no [Cap]: DefaultMaxWait, or twice the wait if
// that is longer.
func slowest(wait time.Duration) time.Duration {
	return max(DefaultMaxWait, words.Sum(wait, wait))
}

// A Schedule computes the wait before each attempt.
type Schedule interface {
	// Wait returns the wait at step s. It is never negative. A schedule that is
	// not random does not use r, which may then be nil.
	Wait(s Step, r *rand.Rand) time.Duration
}

// ScheduleFunc adapts an ordinary function to a [Schedule]. The function must
// depend on nothing but its arguments.
type ScheduleFunc func(s Step, r *rand.Rand) time.Duration

// Wait returns f(s, r), or 0 if that is negative.
func (f ScheduleFunc) Wait(s Step, r *rand.Rand) time.Duration {
	return max(0, f(s, r))
}

// Waits returns an endless sequence of the waits of s, from step 0 on. It assumes
// that attempts take no time, so Elapsed is the sum of the waits so far. Each
// range over it starts at step 0 again, with further numbers from r. If s is not
// random, r may be nil.
func Waits(s Schedule, r *rand.Rand) iter.Seq[time.Duration] {
	s = known(s)
	return func(yield func(time.Duration) bool) {
		var step Step
		for {
			wait := s.Wait(step, r)
			if !yield(wait) {
				return
			}
			step = Step{N: step.N + 1, Elapsed: words.Sum(step.Elapsed, wait), Previous: wait}
		}
	}
}

// Cap returns the schedule that waits as s does, but never longer than longest: Cap(nil, time.Second) waits 100
// ms, 200 ms, 400 ms, 800 ms, 1 s, 1 s and so on. 0 means [DefaultMaxWait]. A negative number means no bound.
//
// The order of a cap and a jitter matters. A jitter around a cap draws below the bound. A cap around a jitter cuts
// the drawn wait, so that many waits are exactly as long as the bound.
func Cap(s Schedule, longest time.Duration) Schedule {
	switch {
	case longest < 0:
		longest = words.Longest
	case longest == 0:
		longest = DefaultMaxWait
	}
	inner, bound := known(s), longest
	if _, isFixed := s.(Fixed); !isFixed { // Fixed is slowed down up to this Cap
		bound = min(inner.longest, longest)
	}
	return bounded{ScheduleFunc(func(s Step, r *rand.Rand) time.Duration {
		s.Longest = cmp.Or(s.Longest, longest)
		return min(inner.Wait(s, r), longest)
	}), bound}
}

// Max returns the schedule that waits as long as the longer of a and b. At each step it computes the wait of a
// first.
func Max(a, b Schedule) Schedule {
	first, second := known(a), known(b)
	longer := ScheduleFunc(func(s Step, r *rand.Rand) time.Duration {
		return max(first.Wait(s, r), second.Wait(s, r))
	})
	return bounded{longer, max(first.longest, second.longest)}
}

// Throttled returns the schedule for the wait after a THROTTLED response that names no wait. If v is the wait of
// s, and d is 2v but no more than the bound of s, it draws evenly between d/2 and d, and never less than v: a
// throttled client must not be faster than a client that was merely early. A [Cap] bounds s, also inside [Full],
// [Equal] and [Max].
//
// The Refusals of its [Step] do not count that response.
//
//	s                        v        Throttled(s)
//	nil                      100ms    100ms to 200ms
//	Cap(nil, 20*time.Second) 12.8s    12.8s to 20s
//	Cap(nil, 20*time.Second) 20s      20s
func Throttled(s Schedule) Schedule {
	of := known(s)
	return of.then(func(plain time.Duration, r *rand.Rand) time.Duration {
		doubled := min(words.Sum(plain, plain), of.longest)
		return between(max(plain, doubled/2), doubled, r)
	})
}

// A bounded schedule has no wait above longest.
type bounded struct {
	Schedule
	longest time.Duration
}

// known returns s with its bound, as far as the bound is known. For nil it returns Exponential{}.
func known(s Schedule) bounded {
	switch s := s.(type) {
	case bounded:
		return s
	case nil:
		return bounded{Exponential{}, words.Longest}
	case Fixed:
		return bounded{s, slowest(max(0, time.Duration(s)))}
	default:
		return bounded{s, words.Longest}
	}
}

// then returns the schedule that changes each wait of b. The change makes no wait longer than the bound.
func (b bounded) then(change func(wait time.Duration, r *rand.Rand) time.Duration) bounded {
	return bounded{ScheduleFunc(func(s Step, r *rand.Rand) time.Duration {
		return change(b.Wait(s, r), r)
	}), b.longest}
}
