// Package backoff computes how long to wait before each attempt of an operation.
//
// A [Schedule] is a pure function of a [Step]. It has no state, so goroutines can share it, a wait can be resumed
// at any age, and a test can compare it with a table of numbers. Schedules can be nested:
//
//	s := backoff.Full(backoff.Cap(backoff.Exponential{}, 10*time.Second))
//
// A strategy determines how the waits grow: [Exponential], [Fixed], [Linear], [Fibonacci], [Polynomial], or a
// [ScheduleFunc] of your own. A jitter makes the waits random, so that clients do not send requests at the same
// time: [Full], [Equal], [Decorrelated]. [Cap] limits the waits, [Max] takes the longer of two waits, and
// [Throttled] makes the waits longer for a server that rejects attempts because of load. A nil schedule means
// Exponential{}.
//
// The zero values of strategies are ready for use. Exponential{} waits 100 ms, 200 ms, 400 ms and so on. [Waits]
// returns the waits of a schedule.
//
// Package learn learns a schedule from past runs, and package simulate simulates the load of many clients on one
// service.
//
// Waits are computed in float64, and limited to the range of a [time.Duration]: no parameters lead to a negative
// wait or an overflow.
package backoff

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// DefaultBase is the first wait of most strategies, which is 100 ms. It comes from the AWS General Reference,
// whose pseudocode waits 2^n * 100 ms.
const DefaultBase = 100 * time.Millisecond

// DefaultMaxWait is the limit that [Cap] applies by default.
const DefaultMaxWait = 20 * time.Second

// A Step is the input of a schedule for computing the next wait.
type Step struct {
	// N is the number of attempts so far. It is 0 before the first attempt.
	N int
	// Elapsed is the time since the start of the run. If the run itself starts the operation, it is the time since
	// the response to the start request.
	Elapsed time.Duration
	// Previous is the wait before the last attempt. It is 0 before the first wait.
	Previous time.Duration
	// Refusals is the number of attempts so far that the server rejected because of load (THROTTLED) without
	// requesting a specific wait. Each refusal doubles a constant wait, such as a [Fixed] wait, for all later steps.
	Refusals int
	// Longest is the limit of the outermost [Cap] around the schedule. Cap sets it. 0 means that there is no Cap.
	Longest time.Duration
}

// slowed returns wait, a constant wait, after doubling it for each of s.Refusals. The result does not exceed
// s.Longest or, without a Cap, the result of slowest, but is never shorter than wait.
func (s Step) slowed(wait time.Duration) time.Duration {
	doubled := words.Nanoseconds(math.Ldexp(float64(wait), s.Refusals))
	return max(wait, min(doubled, cmp.Or(s.Longest, slowest(wait))))
}

// slowest returns the longest wait to which refusals can double a constant wait without a [Cap]: DefaultMaxWait, or
// twice the wait if that is longer.
func slowest(wait time.Duration) time.Duration {
	return max(DefaultMaxWait, words.Sum(wait, wait))
}

// A Schedule computes the wait before each attempt.
type Schedule interface {
	// Wait returns the wait at step s. It is never negative. If the schedule is not random, it does not use r, and
	// r may be nil.
	Wait(s Step, r *rand.Rand) time.Duration
}

// ScheduleFunc adapts an ordinary function to a [Schedule]. The result of the function must depend only on its
// arguments.
type ScheduleFunc func(s Step, r *rand.Rand) time.Duration

// Wait returns f(s, r), or 0 if f returns a negative wait. A nil f means Exponential{}.
func (f ScheduleFunc) Wait(s Step, r *rand.Rand) time.Duration {
	if f == nil {
		return Exponential{}.Wait(s, r)
	}
	return max(0, f(s, r))
}

// Waits returns an endless sequence of the waits of s, starting at step 0. It assumes that attempts take no time,
// so the Elapsed of each step is the sum of the previous waits. Each range over the sequence restarts at step 0,
// and draws further numbers from r. If s is not random, r may be nil.
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

// Cap returns a schedule with the waits of s, limited to longest. For example, Cap(nil, time.Second) waits 100 ms,
// 200 ms, 400 ms, 800 ms, 1 s, 1 s and so on. If longest is 0, the limit is [DefaultMaxWait]. If it is negative,
// there is no limit.
//
// The order of a cap and a jitter matters. A jitter around a cap draws a random wait below the limit. A cap around
// a jitter shortens the random wait, so that many waits are exactly as long as the limit.
func Cap(s Schedule, longest time.Duration) Schedule {
	switch {
	case longest < 0:
		longest = words.Longest
	case longest == 0:
		longest = DefaultMaxWait
	}
	inner, bound := known(s), longest
	if _, isFixed := s.(Fixed); !isFixed { // a Fixed wait may be doubled up to the limit
		bound = min(inner.longest, longest)
	}
	return bounded{ScheduleFunc(func(s Step, r *rand.Rand) time.Duration {
		s.Longest = cmp.Or(s.Longest, longest)
		return min(inner.Wait(s, r), longest)
	}), bound}
}

// Max returns a schedule whose waits are the longer of the waits of a and b. At each step, it computes the wait of a
// first.
func Max(a, b Schedule) Schedule {
	first, second := known(a), known(b)
	longer := ScheduleFunc(func(s Step, r *rand.Rand) time.Duration {
		return max(first.Wait(s, r), second.Wait(s, r))
	})
	return bounded{longer, max(first.longest, second.longest)}
}

// Throttled returns a schedule for the wait after a THROTTLED response that does not request a specific wait. Let
// v be the wait of s, and d be 2v or the limit of s, whichever is shorter. The wait is drawn evenly between d/2
// and d, but is never shorter than v, because a throttled client must not be faster than a client that was merely
// early. The limit of s comes from a [Cap], which may be inside [Full], [Equal] or [Max].
//
// The Refusals of the [Step] must not count the THROTTLED response itself.
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

// A bounded is a schedule whose waits do not exceed longest.
type bounded struct {
	Schedule
	longest time.Duration
}

// known returns s with its limit, or with the longest duration if s has no known limit. If s is nil, it returns
// Exponential{}.
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

// then returns a schedule that passes each wait of b to change, and waits as long as change returns. The result of
// change must not exceed the limit of b.
func (b bounded) then(change func(wait time.Duration, r *rand.Rand) time.Duration) bounded {
	return bounded{ScheduleFunc(func(s Step, r *rand.Rand) time.Duration {
		return change(b.Wait(s, r), r)
	}), b.longest}
}
