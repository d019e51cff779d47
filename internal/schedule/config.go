// Package schedule builds the schedules of package backoff from names and numbers, as a
// command line gives them.
package schedule

import (
	"cmp"
	"errors"
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

// Config describes a schedule by names and numbers, which whoever read them has checked. The
// zero value waits 2^n * 100 ms, at most 20 seconds, with JitterAuto. Parameters that the
// strategy does not have are ignored.
type Config struct {
	// Strategy is how the wait grows. Empty means StrategyExponential.
	Strategy Strategy
	// Base is the base of the strategy. 0 means backoff.DefaultBase. StrategyFixed also
	// accepts NoWait, unless Jitter is JitterDecorrelated.
	Base time.Duration
	// Factor is the factor of StrategyExponential, at least 1. 0 means backoff.DefaultFactor.
	Factor float64
	// Power is the exponent of StrategyPolynomial. 0 means backoff.DefaultPower.
	Power float64
	// MaxWait is the longest wait, jitter included. 0 means backoff.DefaultMaxWait,
	// backoff.NoCap no bound.
	MaxWait time.Duration
	// Jitter is how the wait is spread. Empty means JitterAuto.
	Jitter Jitter
}

// Schedules returns the schedule that c describes, and the one for waits after the client was
// throttled. They differ only under [JitterAuto]. The error is about the base: NoWait where
// waits would stay 0.
func (c Config) Schedules() (own, throttled backoff.Schedule, err error) {
	switch {
	case c.Base == NoWait && c.Jitter == JitterDecorrelated:
		return nil, nil, errors.New("0 leaves decorrelated jitter nothing to grow from")
	case c.Base == NoWait && c.Strategy != StrategyFixed:
		return nil, nil, errors.New("0 never grows; only the fixed strategy may wait 0")
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
