package backoff

import (
	"math"
	"time"
)

// With a first wait of a and a factor of r, attempt n of an exponential schedule
// starts at T_n = a (r^n - 1) / (r - 1), and the wait after it is a + (r - 1) T_n.
// In the long run that is the share r - 1 of the time already waited, so the factor
// follows from the share that is acceptable, and the number of attempts from the
// time: n = log_r(1 + (r - 1) T_n / a).
//
//	a = 1s, r = 2      T_10 = 1023s      next wait 1024s
//	a = 1s, r = 1.1    T_48 = 960.172s   next wait 97.017s

// FactorForOvershoot returns the factor with which each wait of an exponential schedule
// is, in the long run, a share of overshoot of the time already waited: 1.1 for an
// overshoot of 0.1, which is 10%. If overshoot is not finite and above 0, the error is a
// [*ParameterError].
func FactorForOvershoot(overshoot float64) (float64, error) {
	if !(overshoot > 0) || !finite(overshoot) {
		return 0, problem("overshoot", "%v is not a finite number above 0", overshoot)
	}
	return 1 + overshoot, nil
}

// FactorForWait returns the factor with which an exponential schedule whose first wait is
// base reaches the given wait at the time at since its start: 1 + (wait - base) / at. If
// base or at is not above 0, or wait is below base, the error is a [*ParameterError].
func FactorForWait(base, wait, at time.Duration) (float64, error) {
	switch {
	case base <= 0:
		return 0, problem("base", "%v is not above 0", base)
	case wait < base:
		return 0, problem("wait", "%v is below the first wait of %v", wait, base)
	case at <= 0:
		return 0, problem("at", "%v is not above 0", at)
	}
	return 1 + float64(wait-base)/float64(at), nil
}

// At returns when attempt n starts, the sum of the first n waits, in closed form.
func (e Exponential) At(n int) time.Duration {
	base, factor := e.parameters()
	if factor == 1 {
		return saturate(base * float64(n))
	}
	growth := math.Expm1(float64(n) * math.Log1p(factor-1)) // r^n - 1, exact near r = 1 too
	return saturate(base * growth / (factor - 1))
}

// attemptsBy returns how many attempts start within elapsed, at most 2^31 - 1.
func (e Exponential) attemptsBy(elapsed time.Duration) int {
	if elapsed <= 0 {
		return 0
	}
	base, factor := e.parameters()
	n := float64(elapsed) / base
	if factor != 1 {
		n = math.Log1p((factor-1)*n) / math.Log1p(factor-1)
	}
	if !(n < math.MaxInt32) { // NaN: waits that shrink may never add up to elapsed
		return math.MaxInt32
	}
	attempts := int(math.Round(n)) // n may be a whole number but for rounding
	if e.At(attempts) > elapsed {
		attempts--
	}
	return attempts
}

// A Tuning tells what the factor of a schedule costs in attempts, and how promptly
// it notices an end, by a given time.
type Tuning struct {
	// Schedule is the schedule judged.
	Schedule Exponential
	// Attempts is the number of attempts by then, at most 2^31 - 1, and
	// AttemptsFactor2 what it would be with a factor of 2.
	Attempts, AttemptsFactor2 int
	// Ratio is the limit of Attempts / AttemptsFactor2 as the time grows:
	// log 2 / log Factor, which is +Inf for a factor of 1.
	Ratio float64
	// Last is when the last of the attempts starts.
	Last time.Duration
	// NextWait is the wait after it, the longest time for which an end around then
	// goes unnoticed.
	NextWait time.Duration
}

// Tune judges e by what it does until the given time since its start.
func Tune(e Exponential, until time.Duration) Tuning {
	_, factor := e.parameters()
	attempts := e.attemptsBy(until)
	return Tuning{
		Schedule:        e,
		Attempts:        attempts,
		AttemptsFactor2: Exponential{Base: e.Base, Factor: 2}.attemptsBy(until),
		Ratio:           math.Ln2 / math.Log(factor),
		Last:            e.At(attempts),
		NextWait:        e.Wait(Step{N: attempts}, nil),
	}
}
