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

// ParseStrategy returns the strategy called name, or a [ParameterError] that
// lists the names there are.
func ParseStrategy(name string) (Strategy, error) {
	return parse("strategy", name, Strategies())
}

// A Jitter names what chance does to the wait of a strategy.
type Jitter string

// The jitters.
const (
	// JitterAuto leaves the wait alone after NOT_READY, since one client need
	// not avoid collisions, and takes that of [Throttled] after THROTTLED.
	// Polynomial waits are spread by [RailsSpread], as their formula says.
	JitterAuto Jitter = "auto"
	// JitterNone leaves every wait alone.
	JitterNone Jitter = "none"
	// JitterFull is [Full].
	JitterFull Jitter = "full"
	// JitterEqual is [Equal].
	JitterEqual Jitter = "equal"
	// JitterDecorrelated is [Decorrelated]. Of the strategy it keeps the base.
	JitterDecorrelated Jitter = "decorrelated"
)

// Jitters returns every jitter, the default first.
func Jitters() []Jitter {
	return []Jitter{JitterAuto, JitterNone, JitterFull, JitterEqual, JitterDecorrelated}
}

// ParseJitter returns the jitter called name, or a [ParameterError] that lists
// the names there are.
func ParseJitter(name string) (Jitter, error) {
	return parse("jitter", name, Jitters())
}

func parse[T ~string](parameter, name string, names []T) (T, error) {
	if !slices.Contains(names, T(name)) {
		return "", unknown(parameter, name, names)
	}
	return T(name), nil
}

func unknown[T ~string](parameter, name string, names []T) error {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return &ParameterError{Parameter: parameter, Problem: fmt.Sprintf("%q is none of %s", name, strings.Join(list, ", "))}
}

// A ParameterError says which parameter of a schedule cannot be used and why.
type ParameterError struct {
	// Parameter is strategy, base, factor, power, max-wait, jitter, or one of
	// the wishes a factor is chosen from: overshoot, wait, at.
	Parameter string
	// Problem is the value and what is wrong with it, in words.
	Problem string
}

// Error returns the parameter and the problem.
func (e *ParameterError) Error() string { return e.Parameter + ": " + e.Problem }

// Config describes a schedule by names and numbers. Start from [DefaultConfig]:
// a zero number means zero. Parameters that the strategy does not have are
// ignored.
type Config struct {
	// Strategy is how the wait grows. Empty means StrategyExponential.
	Strategy Strategy
	// Base is the strategy's base, above 0; only StrategyFixed without
	// JitterDecorrelated also takes 0.
	Base time.Duration
	// Factor is the growth of StrategyExponential, finite and at least 1.
	Factor float64
	// Power is the exponent of StrategyPolynomial, finite and above 0.
	Power float64
	// MaxWait is the longest wait, after jitter. 0 means no bound.
	MaxWait time.Duration
	// Jitter is what chance does to the wait. Empty means JitterAuto.
	Jitter Jitter
}

// DefaultConfig returns what poll does unless told otherwise: 2^n * 100 ms, at
// most 20 seconds.
func DefaultConfig() Config {
	return Config{
		Strategy: StrategyExponential,
		Base:     DefaultBase,
		Factor:   DefaultFactor,
		Power:    DefaultPower,
		MaxWait:  20 * time.Second,
		Jitter:   JitterAuto,
	}
}

// Schedules returns the schedule that c describes and the one for the waits
// after a THROTTLED answer, which differs under [JitterAuto] only. The error is
// that of [Config.Validate].
func (c Config) Schedules() (own, throttled Schedule, err error) {
	if err := c.Validate(); err != nil {
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

// Validate returns nil if c describes a schedule, else a [ParameterError].
func (c Config) Validate() error {
	if c.Strategy != "" && !slices.Contains(Strategies(), c.Strategy) {
		return unknown("strategy", string(c.Strategy), Strategies())
	}
	if c.Jitter != "" && !slices.Contains(Jitters(), c.Jitter) {
		return unknown("jitter", string(c.Jitter), Jitters())
	}
	if c.MaxWait < 0 {
		return &ParameterError{"max-wait", fmt.Sprintf("%v is negative", c.MaxWait)}
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
	case c.Base < 0:
		return &ParameterError{"base", fmt.Sprintf("%v is negative", c.Base)}
	case c.Base > 0:
		return nil
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
	case factor < 1:
		return &ParameterError{"factor", fmt.Sprintf("%v is below 1, the waits would shrink", factor)}
	default:
		return nil
	}
}

func validatePower(power float64) error {
	switch {
	case math.IsNaN(power) || math.IsInf(power, 0):
		return &ParameterError{"power", fmt.Sprintf("%v is not a finite number", power)}
	case power <= 0:
		return &ParameterError{"power", fmt.Sprintf("%v is not above 0", power)}
	default:
		return nil
	}
}
