package backoff

import (
	"fmt"
	"math"
	"time"
)

// Under exponential backoff with the first wait a and the factor r, attempt n
// starts at T_n = a (r^n - 1) / (r - 1), and the wait after it is
// a + (r - 1) T_n: in the long run the part r - 1 of the time already waited.
// So the factor follows from the part that is acceptable, and the attempts from
// the time: n = log_r(1 + (r - 1) T_n / a).
//
//	a = 1s, r = 2      T_10 = 1023s      next wait 1024s
//	a = 1s, r = 1.1    T_48 = 960.172s   next wait 97.017s

// FactorForOvershoot returns the factor under which each wait is about the part
// overshoot of the time already waited: 1.1 for 0.1, which is 10%. It returns a
// [ParameterError] unless overshoot is finite and above 0.
func FactorForOvershoot(overshoot float64) (float64, error) {
	if !(overshoot > 0) || math.IsInf(overshoot, 0) {
		return 0, &ParameterError{"overshoot", fmt.Sprintf("%v is not a finite number above 0", overshoot)}
	}
	return 1 + overshoot, nil
}

// FactorForWait returns the factor under which a schedule that starts with the
// wait base is to wait for wait when it is at old: 1 + (wait - base) / at. It
// returns a [ParameterError] unless base is above 0, wait not below it, and at
// above 0.
func FactorForWait(base, wait, at time.Duration) (float64, error) {
	switch {
	case base <= 0:
		return 0, &ParameterError{"base", fmt.Sprintf("%v is not above 0", base)}
	case wait < base:
		return 0, &ParameterError{"wait", fmt.Sprintf("%v is below the first wait of %v", wait, base)}
	case at <= 0:
		return 0, &ParameterError{"at", fmt.Sprintf("%v is not above 0", at)}
	}
	return 1 + float64(wait-base)/float64(at), nil
}

// At returns T_n, when attempt n starts: the sum of the first n waits.
func (e Exponential) At(n int) time.Duration {
	base, factor := e.parameters()
	if factor == 1 {
		return saturate(base * float64(n))
	}
	growth := math.Expm1(float64(n) * math.Log1p(factor-1)) // r^n - 1, exact near r = 1 too
	return saturate(base * growth / (factor - 1))
}

// WaitAfter returns the wait that follows an attempt which starts elapsed after
// the start: Base + (Factor - 1) * elapsed.
func (e Exponential) WaitAfter(elapsed time.Duration) time.Duration {
	base, factor := e.parameters()
	return saturate(base + (factor-1)*float64(elapsed))
}

// AttemptsBy returns how many attempts start within elapsed, at most 2^31 - 1.
func (e Exponential) AttemptsBy(elapsed time.Duration) int {
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

// A Tuning tells what a factor costs and what it buys until a given time.
type Tuning struct {
	// Schedule is what is judged.
	Schedule Exponential
	// Attempts is the number of attempts until then.
	Attempts int
	// AttemptsFactor2 is the number of attempts with the factor 2 instead.
	AttemptsFactor2 int
	// Ratio is what the ratio of the two tends to: log 2 / log Factor. It is
	// +Inf for a factor of 1.
	Ratio float64
	// Last is when the last of the attempts starts.
	Last time.Duration
	// NextWait is the wait after it: the longest that a completion at that time
	// goes unseen.
	NextWait time.Duration
}

// Tune returns the tuning of e until the given time.
func Tune(e Exponential, until time.Duration) Tuning {
	_, factor := e.parameters()
	attempts := e.AttemptsBy(until)
	return Tuning{
		Schedule:        e,
		Attempts:        attempts,
		AttemptsFactor2: Exponential{Base: e.Base, Factor: 2}.AttemptsBy(until),
		Ratio:           math.Ln2 / math.Log(factor),
		Last:            e.At(attempts),
		NextWait:        e.Wait(Step{N: attempts}, nil),
	}
}
