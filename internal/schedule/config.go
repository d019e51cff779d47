// Package schedule builds the schedules of package backoff from names and numbers, as a
// command line gives them.
package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
)

// A Strategy names how the wait grows from step to step.
type Strategy string

// The strategies. Each is the type of the same name in package backoff.
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
	// JitterAuto spreads only the waits of a throttled client, as [backoff.Throttled]
	// does, since a single client has nobody to collide with. Polynomial waits
	// get [backoff.RailsSpread], which is part of the formula in Rails.
	JitterAuto         Jitter = "auto"
	JitterNone         Jitter = "none"         // no wait is random
	JitterFull         Jitter = "full"         // as [backoff.Full]
	JitterEqual        Jitter = "equal"        // as [backoff.Equal]
	JitterDecorrelated Jitter = "decorrelated" // as [backoff.Decorrelated], with only the base of the strategy
)

// Jitters returns every jitter, the default first.
func Jitters() []Jitter {
	return []Jitter{JitterAuto, JitterNone, JitterFull, JitterEqual, JitterDecorrelated}
}

// NoWait, as [Config].Base of [StrategyFixed], is a wait of 0.
const NoWait time.Duration = -1

// Config describes a schedule by names and numbers. The zero value waits
// 2^n * 100 ms, at most 20 seconds, with JitterAuto. Parameters that the strategy
// does not have are ignored.
type Config struct {
	// Strategy is how the wait grows. Empty means StrategyExponential.
	Strategy Strategy
	// Base is the base of the strategy. 0 means backoff.DefaultBase. StrategyFixed also
	// accepts NoWait, unless Jitter is JitterDecorrelated.
	Base time.Duration
	// Factor is the factor of StrategyExponential, finite and at least 1.
	// 0 means backoff.DefaultFactor.
	Factor float64
	// Power is the exponent of StrategyPolynomial, finite and above 0. 0 means
	// backoff.DefaultPower.
	Power float64
	// MaxWait is the longest wait, jitter included. 0 means backoff.DefaultMaxWait,
	// backoff.NoCap no bound.
	MaxWait time.Duration
	// Jitter is how the wait is spread. Empty means JitterAuto.
	Jitter Jitter
}

// Schedules returns the schedule that c describes, and the one for waits after
// the client was throttled. They differ only under [JitterAuto]. If c describes no
// schedule, the error is a [*ParameterError].
func (c Config) Schedules() (own, throttled backoff.Schedule, err error) {
	if err := c.validate(); err != nil {
		return nil, nil, err
	}
	own, throttled = c.schedules()
	return own, throttled, nil
}

func (c Config) schedules() (own, throttled backoff.Schedule) {
	capped := backoff.Cap{Of: c.strategy(), Max: c.MaxWait}
	switch c.Jitter {
	case JitterNone:
		own = capped
	case JitterFull:
		own = backoff.Full{Of: capped}
	case JitterEqual:
		own = backoff.Equal{Of: capped}
	case JitterDecorrelated:
		own = backoff.Cap{Of: backoff.Decorrelated{Base: c.Base}, Max: c.MaxWait}
	default:
		return capped, backoff.Throttled(capped)
	}
	return own, own
}

func (c Config) strategy() backoff.Schedule {
	switch c.Strategy {
	case StrategyFixed:
		return backoff.Fixed(cmp.Or(c.Base, backoff.DefaultBase))
	case StrategyLinear:
		return backoff.Linear{Base: c.Base}
	case StrategyFibonacci:
		return backoff.Fibonacci{Base: c.Base}
	case StrategyPolynomial:
		p := backoff.Polynomial{Base: c.Base, Power: c.Power}
		if c.Jitter == JitterAuto || c.Jitter == "" {
			p.Spread = backoff.RailsSpread
		}
		return p
	}
	return backoff.Exponential{Base: c.Base, Factor: c.Factor}
}

func (c Config) validate() error {
	exponential := c.Strategy == StrategyExponential || c.Strategy == ""
	polynomial := c.Strategy == StrategyPolynomial
	switch {
	case c.Strategy != "" && !slices.Contains(Strategies(), c.Strategy):
		return unknown("strategy", c.Strategy, Strategies())
	case c.Jitter != "" && !slices.Contains(Jitters(), c.Jitter):
		return unknown("jitter", c.Jitter, Jitters())
	case c.MaxWait < 0 && c.MaxWait != backoff.NoCap:
		return problem("max wait", "%v is negative", c.MaxWait)
	case c.Base < 0 && c.Base != NoWait:
		return problem("base", "%v is negative", c.Base)
	case c.Base < 0 && c.Jitter == JitterDecorrelated:
		return problem("base", "0 leaves decorrelated jitter nothing to grow from")
	case c.Base < 0 && c.Strategy != StrategyFixed:
		return problem("base", "0 never grows; only the fixed strategy may wait 0")
	case exponential && !finite(c.Factor):
		return problem("factor", "%v is not a finite number", c.Factor)
	case exponential && c.Factor != 0 && c.Factor < 1:
		return problem("factor", "%v is below 1, the waits would shrink", c.Factor)
	case polynomial && !finite(c.Power):
		return problem("power", "%v is not a finite number", c.Power)
	case polynomial && c.Power < 0:
		return problem("power", "%v is not above 0", c.Power)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// unknown returns the error for a name that is not one of names.
func unknown[T ~string](parameter string, name T, names []T) error {
	list := string(names[0])
	for _, n := range names[1:] {
		list += ", " + string(n)
	}
	return problem(parameter, "%q is none of %s", name, list)
}

// A ParameterError reports a parameter that cannot be used.
type ParameterError struct {
	// Parameter names the parameter in words. Those of a [Config] are "strategy",
	// "base", "factor", "power", "max wait" and "jitter".
	Parameter string
	// Problem is the value and what is wrong with it.
	Problem string
}

// Error returns the parameter and the problem.
func (e *ParameterError) Error() string { return e.Parameter + ": " + e.Problem }

func problem(parameter, format string, args ...any) error {
	return &ParameterError{parameter, fmt.Sprintf(format, args...)}
}
