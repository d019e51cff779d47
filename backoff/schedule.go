// Package backoff computes how long to wait before each attempt.
//
// A [Schedule] is a pure function of the [Step] it is asked for. It keeps no
// state, so it can be tabulated, resumed at any age, shared by goroutines and
// tested as a table of numbers. Schedules wrap one another:
//
//	s := backoff.Full{Of: backoff.Cap{Of: backoff.Exponential{}, Max: 10 * time.Second}}
//
// A strategy says how the waits grow: [Exponential], [Fixed], [Linear],
// [Fibonacci], [Polynomial], or a [ScheduleFunc] of your own. A jitter spreads
// them at random: [Full], [Equal], [Decorrelated]. [Cap] bounds them, [Max] takes
// the longer of two, and [Throttled] slows a schedule down for a server that
// asked for fewer attempts.
//
// Zero values are ready for use and mean the defaults. Exponential{} waits 100 ms,
// 200 ms, 400 ms and so on; Cap{} does so too, but never longer than 20 seconds. Since
// 0 means the default, [NoCap] means no cap.
//
// [Table] shows what a schedule does. Package learn has a schedule that is learned from
// past runs, and package simulate shows what many clients do to one service.
//
// Waits are computed in float64 and saturate. Whatever the parameters and
// however late the step, no wait is negative and none overflows.
package backoff

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// Defaults of the parameters. Base and factor are those of the pseudocode in the
// AWS General Reference, which waits 2^n * 100 ms.
const (
	DefaultBase    = 100 * time.Millisecond
	DefaultFactor  = 2.0
	DefaultPower   = 4.0
	DefaultMaxWait = 20 * time.Second
)

// NoCap, as [Cap].Max, allows waits of any length.
const NoCap time.Duration = -1

// A Step is what a schedule may look at to compute a wait.
type Step struct {
	// N is the number of attempts so far, 0 before the first one.
	N int
	// Elapsed is the time since the start of the run. If the run itself starts
	// the operation, it is the time since that was answered.
	Elapsed time.Duration
	// Previous is the wait before this one, 0 if there was none.
	Previous time.Duration
}

// next returns the step after a wait and an attempt that takes no time.
func (s Step) next(wait time.Duration) Step {
	return Step{N: s.N + 1, Elapsed: Add(s.Elapsed, wait), Previous: wait}
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

// Cap bounds a schedule: no wait is longer than Max. Cap{Max: time.Second} waits
// 100 ms, 200 ms, 400 ms, 800 ms, 1 s, 1 s and so on.
//
// The order of a cap and a jitter matters. A jitter around a Cap draws below the
// bound. A Cap around a jitter cuts what was drawn, so that many waits are exactly
// Max.
type Cap struct {
	// Of is the schedule to bound. nil means Exponential{}.
	Of Schedule
	// Max is the longest wait. 0 means DefaultMaxWait; NoCap, or any negative number,
	// means no bound.
	Max time.Duration
}

// Wait returns the wait of c.Of, at most Max.
func (c Cap) Wait(s Step, r *rand.Rand) time.Duration {
	return min(orExponential(c.Of).Wait(s, r), c.limit())
}

// limit returns the longest wait that c lets pass.
func (c Cap) limit() time.Duration {
	switch {
	case c.Max < 0:
		return forever
	case c.Max == 0:
		return DefaultMaxWait
	}
	return c.Max
}

// Max returns the schedule that waits as long as the longer of a and b. At each
// step it asks a first, then b. nil means Exponential{}.
func Max(a, b Schedule) Schedule {
	return longer{orExponential(a), orExponential(b)}
}

type longer struct{ a, b Schedule }

func (l longer) Wait(s Step, r *rand.Rand) time.Duration {
	return max(l.a.Wait(s, r), l.b.Wait(s, r))
}

// Throttled returns the schedule for the wait after an answer that asked the client to
// slow down but did not say for how long. If v is the wait of s, and d is 2v but no more
// than the bound of s, it draws evenly between d/2 and d, and never less than v: a
// throttled client must not be faster than one that was merely early. A [Cap] bounds s,
// also inside [Full], [Equal] and [Max]. nil means Exponential{}.
//
//	s                                    v      Throttled(s)
//	Exponential{}                        100ms  100ms to 200ms
//	Cap{Max: 20 * time.Second}           12.8s  12.8s to 20s
//	Cap{Max: 20 * time.Second}           20s    20s
func Throttled(s Schedule) Schedule {
	s = orExponential(s)
	limit := limitOf(s)
	return ScheduleFunc(func(step Step, r *rand.Rand) time.Duration {
		plain := s.Wait(step, r)
		doubled := min(Add(plain, plain), limit)
		return between(max(plain, doubled/2), doubled, r)
	})
}

// limitOf returns the bound of s, forever if none is known.
func limitOf(s Schedule) time.Duration {
	switch s := s.(type) {
	case Cap:
		return min(s.limit(), limitOf(s.Of))
	case Full:
		return limitOf(s.Of)
	case Equal:
		return limitOf(s.Of)
	case longer:
		return max(limitOf(s.a), limitOf(s.b))
	default:
		return forever
	}
}

// orExponential gives the wrappers their useful zero value.
func orExponential(s Schedule) Schedule {
	if s == nil {
		return Exponential{}
	}
	return s
}

// forever is the longest wait there is, about 292 years.
const forever = time.Duration(math.MaxInt64)

// Add returns a + b, or the longest Duration if the sum would overflow. Neither
// may be negative.
func Add(a, b time.Duration) time.Duration {
	return a + min(b, forever-a)
}

// saturate converts nanoseconds to a wait. Negative numbers become 0, and what does not
// fit becomes forever. So does NaN, the product of 0 and infinity: too long a wait is a
// nuisance, but no wait is a flood. Halves round to even, which keeps means true.
func saturate(ns float64) time.Duration {
	switch {
	case ns <= 0:
		return 0
	case ns < math.MaxInt64: // exactly 2^63 as a float64
		return time.Duration(math.RoundToEven(ns))
	default:
		return forever
	}
}
