package plan

import (
	"math"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
)

// With a first wait of a and a factor of r, attempt n of an exponential schedule
// starts at T_n = a (r^n - 1) / (r - 1), and the wait after it is a + (r - 1) T_n.
// In the long run that is the share r - 1 of the time already waited, so the factor
// follows from the share that is acceptable, and the number of attempts from the
// time: n = log_r(1 + (r - 1) T_n / a).
//
//	a = 1s, r = 2      T_10 = 1023s      next wait 1024s
//	a = 1s, r = 1.1    T_48 = 960.172s   next wait 97.017s

// chooseFactor returns the factor for a goal: for an overshoot, with which each wait is in
// the long run that share of the time already waited, or for a wait at a time.
func chooseFactor(l *argv.Line, g goal) (float64, error) {
	switch {
	case math.IsInf(g.overshoot, 0):
		return 0, argv.Usagef("%s: %v is not a finite number above 0", l.Origin("overshoot"), g.overshoot)
	case g.overshoot > 0:
		return 1 + g.overshoot, nil
	case g.wait < g.base:
		return 0, argv.Usagef("%s: %v is below the first wait of %v", l.Origin("wait"), g.wait, g.base)
	case g.at <= 0:
		return 0, argv.Usagef("%s: %v is not above 0", l.Origin("at"), g.at)
	}
	return 1 + float64(g.wait-g.base)/float64(g.at), nil
}

// growth is exponential waits, in closed form. Base and factor are above 0.
type growth backoff.Exponential

// start returns when attempt n starts, the sum of the first n waits.
func (e growth) start(n int) time.Duration {
	base := float64(e.Base)
	if e.Factor == 1 {
		return nanoseconds(base * float64(n))
	}
	grown := math.Expm1(float64(n) * math.Log1p(e.Factor-1)) // r^n - 1, exact near r = 1 too
	return nanoseconds(base * grown / (e.Factor - 1))
}

// wait returns the wait before attempt n + 1.
func (e growth) wait(n int) time.Duration {
	return backoff.Exponential(e).Wait(backoff.Step{N: n}, nil)
}

// attemptsBy returns how many attempts start within elapsed, at most 2^31 - 1.
func (e growth) attemptsBy(elapsed time.Duration) int {
	n := float64(elapsed) / float64(e.Base)
	if e.Factor != 1 {
		n = math.Log1p((e.Factor-1)*n) / math.Log1p(e.Factor-1)
	}
	if !(n < math.MaxInt32) {
		return math.MaxInt32
	}
	attempts := int(math.Round(n)) // n may be a whole number but for rounding
	if e.start(attempts) > elapsed {
		attempts--
	}
	return attempts
}

// nanoseconds converts a number of them, which saturates.
func nanoseconds(ns float64) time.Duration {
	if ns < math.MaxInt64 {
		return time.Duration(math.RoundToEven(ns))
	}
	return math.MaxInt64
}
