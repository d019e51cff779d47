package backoff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Strategy names how the wait grows from step to step.
type Strategy string

// The strategies. Each is the schedule type of the same name.
const (
	StrategyExponential Strategy = "exponential"
	StrategyFixed       Strategy = "fixed"
	StrategyLinear      Strategy = "linear"
	StrategyFibonacci   Strategy = "fibonacci"
	StrategyPolynomial  Strategy = "polynomial"
)

// Strategies returns every strategy, the default first.
func Strategies() []Strategy {
	return []Strategy{StrategyExponential, StrategyFixed, StrategyLinear, StrategyFibonacci, StrategyPolynomial}
}

// A Jitter names how the waits of a strategy are spread at random.
type Jitter string

// The jitters.
const (
	// JitterAuto leaves ordinary waits alone, since a single client has nobody
	// to collide with, and spreads those of a throttled client as [Throttled]
	// does. Polynomial waits get [RailsSpread], which is part of their formula.
	JitterAuto Jitter = "auto"
	// JitterNone leaves every wait alone.
	JitterNone Jitter = "none"
	// JitterFull is [Full].
	JitterFull Jitter = "full"
	// JitterEqual is [Equal].
	JitterEqual Jitter = "equal"
	// JitterDecorrelated is [Decorrelated]. It replaces the strategy and uses
	// its base only.
	JitterDecorrelated Jitter = "decorrelated"
)

// Jitters returns every jitter, the default first.
func Jitters() []Jitter {
	return []Jitter{JitterAuto, JitterNone, JitterFull, JitterEqual, JitterDecorrelated}
}

// Config describes a schedule by names and numbers. The zero value is 2^n * 100 ms,
// capped at 20 seconds, with JitterAuto. Parameters that the strategy does not
// have are ignored.
type Config struct {
	// Strategy is how the wait grows. Empty means StrategyExponential.
	Strategy Strategy
	// Base is the base of the strategy. 0 means DefaultBase. StrategyFixed also
	// accepts NoWait, unless Jitter is JitterDecorrelated.
	Base time.Duration
	// Factor is the factor of StrategyExponential, finite and at least 1.
	// 0 means DefaultFactor.
	Factor float64
	// Power is the exponent of StrategyPolynomial, finite and above 0. 0 means
	// DefaultPower.
	Power float64
	// MaxWait is the longest wait, jitter included. 0 means DefaultMaxWait,
	// NoCap no bound.
	MaxWait time.Duration
	// Jitter is how the wait is spread. Empty means JitterAuto.
	Jitter Jitter
}

// Schedules returns the schedule that c describes, and the one for waits after
// the client was throttled. They differ under [JitterAuto] only. The error is a
// [*ParameterError] if c describes no schedule.
func (c Config) Schedules() (own, throttled Schedule, err error) {
	if err := c.validate(); err != nil {
		return nil, nil, err
	}
	own, throttled = c.schedules()
	return own, throttled, nil
}

func (c Config) schedules() (own, throttled Schedule) {
	capped := Cap{Of: c.strategy(), Max: c.MaxWait}
	switch c.Jitter {
	case JitterNone:
		own = capped
	case JitterFull:
		own = Full{Of: capped}
	case JitterEqual:
		own = Equal{Of: capped}
	case JitterDecorrelated:
		own = Cap{Of: Decorrelated{Base: c.Base}, Max: c.MaxWait}
	default:
		return capped, Throttled(capped)
	}
	return own, own
}

func (c Config) strategy() Schedule {
	switch c.Strategy {
	case StrategyFixed:
		if c.Base == 0 {
			return Fixed(DefaultBase)
		}
		return Fixed(c.Base)
	case StrategyLinear:
		return Linear{Base: c.Base}
	case StrategyFibonacci:
		return Fibonacci{Base: c.Base}
	case StrategyPolynomial:
		p := Polynomial{Base: c.Base, Power: c.Power}
		if c.Jitter == JitterAuto || c.Jitter == "" {
			p.Spread = RailsSpread
		}
		return p
	default:
		return Exponential{Base: c.Base, Factor: c.Factor}
	}
}

func (c Config) validate() error {
	if c.Strategy != "" && !slices.Contains(Strategies(), c.Strategy) {
		return unknown("strategy", c.Strategy, Strategies())
	}
	if c.Jitter != "" && !slices.Contains(Jitters(), c.Jitter) {
		return unknown("jitter", c.Jitter, Jitters())
	}
	if c.MaxWait < 0 && c.MaxWait != NoCap {
		return &ParameterError{"max wait", fmt.Sprintf("%v is negative", c.MaxWait)}
	}
	if err := c.validateBase(); err != nil {
		return err
	}
	switch c.Strategy {
	case StrategyExponential, "":
		return validateFactor(c.Factor)
	case StrategyPolynomial:
		return validatePower(c.Power)
	default:
		return nil
	}
}

func (c Config) validateBase() error {
	switch {
	case c.Base >= 0:
		return nil
	case c.Base != NoWait:
		return &ParameterError{"base", fmt.Sprintf("%v is negative", c.Base)}
	case c.Jitter == JitterDecorrelated:
		return &ParameterError{"base", "0 leaves decorrelated jitter nothing to grow from"}
	case c.Strategy != StrategyFixed:
		return &ParameterError{"base", "0 never grows; only the fixed strategy may wait 0"}
	default:
		return nil
	}
}

func validateFactor(factor float64) error {
	switch {
	case math.IsNaN(factor) || math.IsInf(factor, 0):
		return &ParameterError{"factor", fmt.Sprintf("%v is not a finite number", factor)}
	case factor < 1 && factor != 0:
		return &ParameterError{"factor", fmt.Sprintf("%v is below 1, the waits would shrink", factor)}
	default:
		return nil
	}
}

func validatePower(power float64) error {
	switch {
	case math.IsNaN(power) || math.IsInf(power, 0):
		return &ParameterError{"power", fmt.Sprintf("%v is not a finite number", power)}
	case power < 0:
		return &ParameterError{"power", fmt.Sprintf("%v is not above 0", power)}
	default:
		return nil
	}
}

// A ParameterError reports a parameter that cannot be used.
type ParameterError struct {
	// Parameter is the name of the parameter, as one would say it. Those of a
	// [Config] are "strategy", "base", "factor", "power", "max wait" and "jitter".
	Parameter string
	// Problem is the value and what is wrong with it.
	Problem string
}

// Error returns the parameter and the problem.
func (e *ParameterError) Error() string { return e.Parameter + ": " + e.Problem }

// unknown returns the error for a name that is none of names.
func unknown[T ~string](parameter string, name T, names []T) error {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return &ParameterError{parameter, fmt.Sprintf("%q is none of %s", string(name), strings.Join(list, ", "))}
}
