// Package plan is about waits before they begin: the flags that shape them, their
// timetable (poll schedule), a factor for a goal (poll tune), and what many pollers
// do to one service (poll simulate).
package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/schedule"
)

// DefaultTimeout is the default of --timeout. It keeps a CI job from hanging.
const DefaultTimeout = 10 * time.Minute

// Flags returns the flags that shape the waits.
func Flags(group string) argv.Flags {
	return argv.Flags{
		{Name: "strategy", Value: "S", Group: group, Default: "exponential", Usage: "or fixed, linear, fibonacci, polynomial", Words: argv.Texts(schedule.Strategies())},
		{Name: "base", Value: "D", Group: group, Default: "100ms", Usage: "the first wait, roughly"},
		{Name: "factor", Value: "F", Group: group, Default: "2", Usage: "growth of exponential"},
		{Name: "power", Value: "P", Group: group, Default: "4", Usage: "growth of polynomial"},
		{Name: "max-wait", Value: "D", Group: group, Default: "20s", Usage: "the longest wait poll chooses; 0 = no cap"},
		{Name: "interval", Value: "D", Group: group, Usage: "poll at once, then every D"},
		{Name: "overshoot", Value: "PCT", Distinctive: true, Group: group, Usage: "each wait is about PCT of the time waited so far"},
		{Name: "jitter", Value: "J", Group: group, Default: "auto", Usage: "or none, full, equal, decorrelated", Words: argv.Texts(schedule.Jitters())},
		{Name: "seed", Value: "N", Group: group, Usage: "makes jitter repeatable"},
		{Name: "immediate", Group: group, Usage: "first attempt at once; with --interval unless =false"},
		{Name: "initial-delay", Value: "D", Group: group, Default: "0", Usage: "wait this long first"},
	}
}

// Conflicts returns the conflicts among the flags that shape the waits.
func Conflicts() []argv.Conflict {
	return slices.Concat(
		argv.Conflicting("interval", "strategy", "base", "factor", "power", "overshoot"),
		argv.Conflicting("overshoot", "factor", "power"),
		[]argv.Conflict{
			{Flag: "overshoot", Other: "strategy", Unless: "exponential"},
			{Flag: "factor", Other: "strategy", Unless: "exponential"},
			{Flag: "power", Other: "strategy", Unless: "polynomial"},
		})
}

// ReadConfig reads the flags that shape the waits. base and maxWait are the
// defaults.
func ReadConfig(l *argv.Line, base, maxWait time.Duration) (schedule.Config, error) {
	c := schedule.Config{
		Strategy: schedule.Strategy(l.Choice("strategy")),
		Jitter:   schedule.Jitter(l.Choice("jitter")),
		Base:     cmp.Or(l.Duration("base", base), schedule.NoWait),
		Factor:   l.Number("factor", 1, backoff.DefaultFactor),
		Power:    l.Number("power", 0, backoff.DefaultPower),
		MaxWait:  cmp.Or(l.Duration("max-wait", maxWait), backoff.NoCap),
	}
	if c.Power == 0 {
		l.Fail("power", argv.Usagef("0 is not above 0"))
	}
	if l.Has("interval") {
		c.Strategy, c.Base = schedule.StrategyFixed, cmp.Or(l.Duration("interval", 0), schedule.NoWait)
	}
	if l.Has("overshoot") {
		c.Factor = 1 + l.Percent("overshoot")
	}
	switch {
	case l.Has("max-wait"):
	case l.Has("overshoot"):
		c.MaxWait = backoff.NoCap
	case c.Strategy == schedule.StrategyFixed && c.MaxWait != backoff.NoCap:
		c.MaxWait = max(c.MaxWait, 2*c.Base) // a fixed wait must fit below it
	}
	if l.Typed("power") != nil && c.Strategy != schedule.StrategyPolynomial && !l.Has("compare") {
		return c, argv.Usagef("--power is for --strategy polynomial")
	}
	return c, nil
}

// Schedules builds the schedules of a configuration: its own, and the one after
// THROTTLED.
func Schedules(l *argv.Line, c schedule.Config) (own, throttled backoff.Schedule, err error) {
	if own, throttled, err = c.Schedules(); err == nil {
		return own, throttled, nil
	}
	flag := "base"
	if l.Has("interval") {
		flag = "interval"
	}
	return nil, nil, argv.Usagef("%s: %w", l.Origin(flag), err)
}

// Immediate reports whether the first attempt comes at once: if --immediate says so
// or, unless it says otherwise, with --interval.
func Immediate(l *argv.Line) bool {
	return l.On("immediate") || l.Has("interval") && !l.Has("immediate")
}

// Source returns the source of all jitter, nil without --seed.
func Source(l *argv.Line) *rand.Rand {
	if !l.Has("seed") {
		return nil
	}
	return rand.New(rand.NewPCG(l.Uint64("seed"), 0))
}
