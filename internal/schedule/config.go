// Package schedule has the flags that shape the waits, and builds the schedules of package
// backoff from them.
package schedule

import (
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
)

// The strategies: how the wait grows from step to step. Each is the type of the same name in
// package backoff.
const (
	Exponential = "exponential"
	Fixed       = "fixed"
	Linear      = "linear"
	Fibonacci   = "fibonacci"
	Polynomial  = "polynomial"
)

// Strategies returns every strategy, the default first.
func Strategies() []string { return []string{Exponential, Fixed, Linear, Fibonacci, Polynomial} }

// The jitters: how the waits of a strategy are spread at random.
const (
	// JitterAuto spreads only the waits of a throttled client, as [backoff.Throttled]
	// does, since a single client has nobody to collide with. Polynomial waits
	// get [backoff.RailsSpread], which is part of the formula in Rails.
	JitterAuto         = "auto"
	JitterNone         = "none"         // no wait is random
	JitterFull         = "full"         // as [backoff.Full]
	JitterEqual        = "equal"        // as [backoff.Equal]
	JitterDecorrelated = "decorrelated" // as [backoff.Decorrelated], with only the base of the strategy
)

// Jitters returns every jitter, the default first.
func Jitters() []string {
	return []string{JitterAuto, JitterNone, JitterFull, JitterEqual, JitterDecorrelated}
}

// A Config describes a schedule by names and numbers. The zero value waits 2^n * 100 ms, at
// most 20 seconds, with JitterAuto. Parameters that the strategy does not have are ignored.
type Config struct {
	Strategy string
	Jitter   string
	Base     time.Duration // the first wait, roughly; 0 for none of Fixed, and for the default of others
	Factor   float64       // of Exponential
	Power    float64       // of Polynomial
	MaxWait  time.Duration // the longest wait, jitter included; backoff.NoCap for no bound
}

// Schedules returns the schedule that c describes, and the one for waits after the client was
// throttled. They differ only under [JitterAuto].
func (c Config) Schedules() (own, throttled backoff.Schedule) {
	capped := backoff.Cap{Of: c.strategy(), Max: c.MaxWait}
	switch c.Jitter {
	case JitterNone:
		return capped, capped
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

// Check refuses a first wait of 0, which l gave, where all waits would stay 0.
func (c Config) Check(l *argv.Line) error {
	flag := "base"
	if l.Has("interval") {
		flag = "interval"
	}
	switch {
	case c.Base > 0:
	case c.Jitter == JitterDecorrelated:
		return argv.Usagef("%s: 0 leaves decorrelated jitter nothing to grow from", l.Origin(flag))
	case c.Strategy != Fixed:
		return argv.Usagef("%s: 0 never grows; only the fixed strategy may wait 0", l.Origin(flag))
	}
	return nil
}

func (c Config) strategy() backoff.Schedule {
	switch c.Strategy {
	case Fixed:
		return backoff.Fixed(c.Base)
	case Linear:
		return backoff.Linear{Base: c.Base}
	case Fibonacci:
		return backoff.Fibonacci{Base: c.Base}
	case Polynomial:
		p := backoff.Polynomial{Base: c.Base, Power: c.Power}
		if c.Jitter == JitterAuto {
			p.Spread = backoff.RailsSpread
		}
		return p
	}
	return backoff.Exponential{Base: c.Base, Factor: c.Factor}
}
