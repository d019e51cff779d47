package read

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/pollcli/poll/backoff"
	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/learn"
)

// The strategies for the waits between attempts. Each name corresponds to a type in package backoff.
const (
	Exponential = "exponential"
	Fixed       = "fixed"
	Linear      = "linear"
	Fibonacci   = "fibonacci"
	Polynomial  = "polynomial"
)

// Strategies returns all strategies. The first is the default.
func Strategies() []string { return []string{Exponential, Fixed, Linear, Fibonacci, Polynomial} }

// The kinds of jitter, which determine how the waits are randomized.
const (
	// JitterAuto randomizes only the waits after the server has throttled the client, as [backoff.Throttled] does.
	// Other waits need no jitter, because a single client cannot collide with other clients. As an exception,
	// polynomial waits always get RailsSpread, because the formula in Rails includes it.
	JitterAuto         = "auto"
	JitterNone         = "none"         // waits are not random
	JitterFull         = "full"         // see [backoff.Full]
	JitterEqual        = "equal"        // see [backoff.Equal]
	JitterDecorrelated = "decorrelated" // see [backoff.Decorrelated]; uses only Base and MaxWait
)

// Jitters returns all kinds of jitter. The first is the default.
func Jitters() []string {
	return []string{JitterAuto, JitterNone, JitterFull, JitterEqual, JitterDecorrelated}
}

// NoCap is the value of MaxWait that allows waits of any length.
const NoCap time.Duration = -1

// RailsSpread is the random spread of polynomial waits in a new Rails application
// (config.active_job.retry_jitter).
const RailsSpread = 0.15

// Waits holds the flags for the waits between attempts. A field that is zero or nil has its default value. With
// the zero value, wait number n takes 2^n * 100 ms, but at most 20 seconds. Fields that belong to other strategies
// are ignored.
type Waits struct {
	Strategy, Jitter string
	Base             time.Duration // approximately the first wait
	MaxWait          time.Duration // the longest wait, including jitter; NoCap means no limit
	Factor           float64       // the growth factor for Exponential
	Power            float64       // the exponent for Polynomial
	Overshoot        float64       // the next wait divided by the elapsed time; determines Factor
	Interval         *time.Duration
	InitialDelay     time.Duration
	Immediate        *bool
	Seed             *uint64
}

// WaitsTable returns the flags whose values are stored in [Waits].
func WaitsTable() argv.Flags {
	return argv.Flags{
		{Name: "strategy", HasVariable: true, Value: "S", Default: Exponential, Words: Strategies(), Set: argv.Text(func(w *Waits, v string) { w.Strategy = v }), Usage: "exponential, fixed, linear, fibonacci or polynomial"},
		{Name: "base", HasVariable: true, Value: "D", Default: "100ms", Set: argv.Parsed(ParsePositive, func(w *Waits, v time.Duration) { w.Base = v }), Usage: "the first wait, roughly"},
		{Name: "factor", HasVariable: true, Value: "F", Default: "2", Set: argv.Parsed(argv.ParseNumber(1), func(w *Waits, v float64) { w.Factor = v }), Not: "strategy!=exponential", Usage: "the growth of exponential waits"},
		{Name: "power", HasVariable: true, Value: "P", Default: "4", Set: argv.Parsed(aboveZero(argv.ParseNumber(0)), func(w *Waits, v float64) { w.Power = v }), Needs: "strategy", Not: "strategy!=polynomial", Usage: "the growth of polynomial waits"},
		{Name: "max-wait", HasVariable: true, Value: "D", Default: "20s", Set: argv.Parsed(ParseCap, func(w *Waits, v time.Duration) { w.MaxWait = v }), Usage: "the longest wait that poll chooses; 0 = no cap"},
		{Name: "interval", HasVariable: true, Value: "D", Brief: true, Set: argv.Parsed(argv.ParseDuration, func(w *Waits, v time.Duration) { w.Interval = &v }), Not: "strategy base factor overshoot jitter=decorrelated", Usage: "poll at once, then every D"},
		{Name: "overshoot", HasVariable: true, Value: "PCT", Distinctive: true, Set: argv.Parsed(argv.ParsePercent, func(w *Waits, v float64) { w.Overshoot = v }), Not: "factor strategy!=exponential", Usage: "each wait is about PCT of the time waited so far"},
		{Name: "jitter", HasVariable: true, Value: "J", Default: JitterAuto, Words: Jitters(), Set: argv.Text(func(w *Waits, v string) { w.Jitter = v }), Usage: "auto, none, full, equal or decorrelated"},
		{Name: "seed", HasVariable: true, Value: "N", WholeRun: true, Set: argv.Parsed(argv.ParseCount(0), func(w *Waits, v int) { w.Seed = new(uint64(v)) }), Usage: "the seed of the jitter, to repeat a run"},
		{Name: "immediate", HasVariable: true, Set: argv.Parsed(strconv.ParseBool, func(w *Waits, v bool) { w.Immediate = &v }), Usage: "make the first attempt at once, as --interval does"},
		{Name: "initial-delay", HasVariable: true, Value: "D", Default: "0", Set: argv.Parsed(argv.ParseDuration, func(w *Waits, v time.Duration) { w.InitialDelay = v }), Usage: "wait this long first"},
	}
}

// ParsePositive parses a duration, which must be greater than 0.
func ParsePositive(s string) (time.Duration, error) { return aboveZero(argv.ParseDuration)(s) }

// aboveZero returns a parser that parses with read, and then rejects 0.
func aboveZero[T cmp.Ordered](read func(string) (T, error)) func(string) (T, error) {
	return func(s string) (value T, err error) {
		if value, err = read(s); err == nil && value == *new(T) {
			err = argv.Usagef("%s is not above 0", s)
		}
		return value, err
	}
}

func ParseCap(s string) (time.Duration, error) {
	d, err := argv.ParseDuration(s)
	return cmp.Or(d, NoCap), err
}

// Resolved returns w with the default values filled in. base and maxWait are the defaults for Base and MaxWait,
// which differ between commands. Resolved also applies Interval, which sets Strategy and Base, and Overshoot, which
// sets Factor and removes the default MaxWait. For Fixed, the default MaxWait is at least twice Base.
func (w Waits) Resolved(base, maxWait time.Duration) Waits {
	isCapped := w.MaxWait != 0
	w.Strategy, w.Jitter = cmp.Or(w.Strategy, Exponential), cmp.Or(w.Jitter, JitterAuto)
	w.Factor, w.Power = cmp.Or(w.Factor, 2), cmp.Or(w.Power, 4)
	w.Base, w.MaxWait = cmp.Or(w.Base, base), cmp.Or(w.MaxWait, maxWait)
	if w.Interval != nil {
		w.Strategy, w.Base = Fixed, *w.Interval
	}
	if w.Overshoot > 0 {
		w.Factor = 1 + w.Overshoot
	}
	switch {
	case isCapped:
	case w.Overshoot > 0:
		w.MaxWait = NoCap
	case w.Strategy == Fixed && w.MaxWait > 0:
		w.MaxWait = max(w.MaxWait, 2*w.Base) // the default maximum must be longer than the fixed wait
	}
	return w
}

// Schedules returns the normal schedule that w describes, and the schedule for the waits after the server has
// throttled the client. With [JitterAuto], a throttled wait is up to twice as long as a normal wait (see
// [backoff.Throttled]). With any other jitter, only constant waits are doubled.
func (w Waits) Schedules() (normal, throttled backoff.Schedule) {
	capped := backoff.Cap(w.growth(), w.MaxWait)
	switch w.Jitter {
	case JitterNone:
		normal = capped
	case JitterFull:
		normal = backoff.Full(capped)
	case JitterEqual:
		normal = backoff.Equal(capped)
	case JitterDecorrelated:
		normal = backoff.Cap(backoff.Decorrelated{Base: w.Base}, w.MaxWait)
	default:
		return capped, backoff.Throttled(capped)
	}
	return normal, backoff.ScheduleFunc(func(s backoff.Step, r *rand.Rand) time.Duration {
		s.Refusals++ // count the current response as well, so that it slows down a constant interval
		return normal.Wait(s, r)
	})
}

func (w Waits) growth() backoff.Schedule {
	switch w.Strategy {
	case Fixed:
		return backoff.Fixed(w.Base)
	case Linear:
		return backoff.Linear{Base: w.Base}
	case Fibonacci:
		return backoff.Fibonacci{Base: w.Base}
	case Polynomial:
		p := backoff.Polynomial{Base: w.Base, Power: w.Power}
		if w.Jitter == JitterAuto || w.Jitter == "" {
			p.Spread = RailsSpread
		}
		return p
	}
	return backoff.Exponential{Base: w.Base, Factor: w.Factor}
}

// AtOnce reports whether the first attempt is made immediately, without a wait. It returns the value of
// --immediate if that flag is set. Otherwise it reports whether --interval is set.
func (w Waits) AtOnce() bool {
	return *cmp.Or(w.Immediate, new(w.Interval != nil))
}

// Rand returns the source of randomness for the jitter of target number n. A single target has the number 0.
// Without --seed, Rand returns nil.
func (w Waits) Rand(n int) *rand.Rand {
	if w.Seed == nil {
		return nil
	}
	return rand.New(rand.NewPCG(*w.Seed, uint64(n)))
}

// DefaultTimeout is the default value of --timeout. It prevents a CI job from hanging.
const DefaultTimeout = 10 * time.Minute

// LearnOptions returns the options for a schedule that is learned from past runs. The learned waits are at least
// as long as Base, and at most as long as MaxWait. If Base exceeds MaxWait, the minimum is MaxWait.
func (w Waits) LearnOptions(f learn.Flags) fit.Options {
	base := w.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Base
	if w.MaxWait > 0 {
		base = min(base, w.MaxWait)
	}
	return f.Options(base, w.MaxWait)
}

// Learned returns the schedules of the learned model m, after applying the jitter to its attempts. throttled is the
// schedule after THROTTLED. Its wait is the longer of two waits: the wait of the parameter configured, and m's wait
// after [backoff.Throttled] has changed it.
func (w Waits) Learned(m *fit.Model, configured backoff.Schedule) (normal, throttled backoff.Schedule) {
	normal = m
	switch w.Jitter {
	case JitterFull, JitterDecorrelated:
		normal = m.Spread(1)
	case JitterEqual:
		normal = m.Spread(0.5)
	}
	capped := backoff.Cap(normal, cmp.Or(w.MaxWait, NoCap))
	return normal, backoff.Max(configured, backoff.Throttled(capped))
}
