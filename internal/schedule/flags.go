package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
)

// Flags are the flags that shape the waits. The zero value is a command line without any.
type Flags struct {
	Strategy, Jitter        string
	Factor, Power           float64
	Overshoot               float64 // a share of the time waited so far
	Base, MaxWait, Interval *time.Duration
	InitialDelay            time.Duration
	Immediate               *bool
	Seed                    *uint64
}

// Table returns the table of the flags, which fill f.
func (f *Flags) Table() argv.Flags {
	return argv.Flags{
		{Name: "strategy", Value: "S", Default: Exponential, Words: Strategies(), To: argv.Text(&f.Strategy), Usage: "or fixed, linear, fibonacci, polynomial"},
		{Name: "base", Value: "D", Default: "100ms", To: argv.Maybe(&f.Base, argv.ParseDuration), Usage: "the first wait, roughly"},
		{Name: "factor", Value: "F", Default: "2", To: argv.To(&f.Factor, argv.ParseNumber(1)), Usage: "growth of exponential"},
		{Name: "power", Value: "P", Default: "4", To: argv.To(&f.Power, parsePower), Needs: "strategy", Usage: "growth of polynomial"},
		{Name: "max-wait", Value: "D", Default: "20s", To: argv.Maybe(&f.MaxWait, argv.ParseDuration), Usage: "the longest wait poll chooses; 0 = no cap"},
		{Name: "interval", Value: "D", Brief: true, To: argv.Maybe(&f.Interval, argv.ParseDuration), Usage: "poll at once, then every D"},
		{Name: "overshoot", Value: "PCT", Distinctive: true, To: argv.To(&f.Overshoot, argv.ParsePercent), Usage: "each wait is about PCT of the time waited so far"},
		{Name: "jitter", Value: "J", Default: JitterAuto, Words: Jitters(), To: argv.Text(&f.Jitter), Usage: "or none, full, equal, decorrelated"},
		{Name: "seed", Value: "N", WholeRun: true, To: argv.Maybe(&f.Seed, argv.ParseUint64), Usage: "makes jitter repeatable"},
		{Name: "immediate", To: argv.Maybe(&f.Immediate, strconv.ParseBool), Usage: "first attempt at once; with --interval unless =false"},
		{Name: "initial-delay", Value: "D", Default: "0", To: argv.To(&f.InitialDelay, argv.ParseDuration), Usage: "wait this long first"},
	}
}

func parsePower(s string) (float64, error) {
	power, err := argv.ParseNumber(0)(s)
	if err == nil && power == 0 {
		err = argv.Usagef("0 is not above 0")
	}
	return power, err
}

// Conflicts returns the conflicts among the flags.
func Conflicts() []argv.Conflict {
	return slices.Concat(
		argv.Conflicting("interval", "strategy", "base", "factor", "overshoot"),
		[]argv.Conflict{
			{Flag: "overshoot", Other: "factor"},
			{Flag: "overshoot", Other: "strategy", Unless: Exponential},
			{Flag: "factor", Other: "strategy", Unless: Exponential},
			{Flag: "power", Other: "strategy", Unless: Polynomial},
		})
}

// Config returns what the flags describe. base and maxWait are the defaults.
func (f *Flags) Config(base, maxWait time.Duration) Config {
	c := Config{
		Strategy: cmp.Or(f.Strategy, Exponential),
		Jitter:   cmp.Or(f.Jitter, JitterAuto),
		Base:     *cmp.Or(f.Base, &base),
		Factor:   cmp.Or(f.Factor, backoff.DefaultFactor),
		Power:    cmp.Or(f.Power, backoff.DefaultPower),
		MaxWait:  cmp.Or(*cmp.Or(f.MaxWait, &maxWait), backoff.NoCap),
	}
	if f.Interval != nil {
		c.Strategy, c.Base = Fixed, *f.Interval
	}
	if f.Overshoot > 0 {
		c.Factor = 1 + f.Overshoot
	}
	switch {
	case f.MaxWait != nil:
	case f.Overshoot > 0:
		c.MaxWait = backoff.NoCap
	case c.Strategy == Fixed && c.MaxWait > 0:
		c.MaxWait = max(c.MaxWait, 2*c.Base) // a fixed wait must fit below it
	}
	return c
}

// AtOnce reports whether the first attempt comes without a wait: if --immediate says so or,
// unless it says otherwise, with --interval.
func (f *Flags) AtOnce() bool {
	if f.Immediate != nil {
		return *f.Immediate
	}
	return f.Interval != nil
}

// Rand returns the source of all jitter, nil without --seed.
func (f *Flags) Rand() *rand.Rand {
	if f.Seed == nil {
		return nil
	}
	return rand.New(rand.NewPCG(*f.Seed, 0))
}
