package learn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// DefaultShare is the cost of one poll when none is given, as a share of the
// median run. At 1% a run takes about five polls.
const DefaultShare = 0.01

// A Cost says how much delay one poll is worth: one more poll is made where it
// is expected to save more than that. It is the only knob of the learned
// schedule. The zero value is [DefaultShare] of the median.
type Cost struct {
	// Share is a share of the median run, above 0. It is not read if Delay is set.
	Share float64
	// Delay is an absolute cost, above 0; 0 means that Share is meant.
	Delay time.Duration
}

// ParseCost reads "1%" as a share of the median and "2s" as an absolute delay.
func ParseCost(s string) (Cost, error) {
	if number, ok := strings.CutSuffix(s, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return Cost{}, fmt.Errorf("%q: want a percentage above 0%% and up to 100%%", s)
		}
		return Cost{Share: percent / 100}, nil
	}
	delay, err := time.ParseDuration(s)
	if err != nil || delay <= 0 {
		return Cost{}, fmt.Errorf("%q: want a percentage of the median such as 1%%, or a duration above 0 such as 2s", s)
	}
	return Cost{Delay: delay}, nil
}

// String is the form that [ParseCost] reads.
func (c Cost) String() string {
	if c.Delay > 0 {
		return c.Delay.String()
	}
	return strconv.FormatFloat(math.Round(c.share()*1e8)/1e6, 'g', -1, 64) + "%"
}

// earlyGap is the longest gap at the default cost, as a share of the median. It
// halves the time until an early failure is seen, for one more poll a run.
const earlyGap = 0.5

// Within a mode, taken with a margin on both sides, the gaps at the default
// cost are at most a share of its median; a wide mode gets no more than so many
// polls by this.
const (
	modeMaxGap   = 0.12
	modeMaxPolls = 10
	modeBefore   = 0.9  // of the shortest run
	modeAfter    = 1.25 // of the longest
)

// stretches says what a poll is worth at each age. A share is one of the median
// of the mode that is the next to end: the polls of a 5 s run that may take
// 45 s are not to be as rare as those of a 45 s run.
func (c Cost) stretches(s sample) []stretch {
	modes := s.modes()
	if c.Delay > 0 || modes == nil {
		return []stretch{c.stretch(math.Inf(1), quantile(s.x, 0.5))}
	}
	var list []stretch
	for i, m := range modes {
		until := math.Inf(1)
		if i+1 < len(modes) {
			until = math.Sqrt(m.longest() * modes[i+1].shortest())
		}
		list = append(list, c.mode(m, until)...)
	}
	return list
}

// mode is what a poll is worth until that age if m is the next to end. The
// cost rule makes about one poll in a narrow mode that is rare, and a run that
// is hardly longer than its like would be seen when the next mode ends; so at
// the default cost the gaps within a mode have a limit too.
func (c Cost) mode(m mode, until float64) []stretch {
	whole := c.stretch(until, m.median)
	if !c.isDefault() {
		return []stretch{whole}
	}
	before, within := whole, whole
	before.until = modeBefore * m.shortest()
	within.until = min(modeAfter*m.longest(), until)
	within.maxGap = max(modeMaxGap*m.median, (within.until-before.until)/modeMaxPolls)
	return []stretch{before, within, whole}
}

func (c Cost) stretch(until, median float64) stretch {
	switch {
	case c.Delay > 0:
		return stretch{until, c.Delay.Seconds(), math.Inf(1)}
	case c.isDefault():
		return stretch{until, DefaultShare * median, earlyGap * median}
	default:
		return stretch{until, c.share() * median, math.Inf(1)}
	}
}

func (c Cost) share() float64 {
	if c.Share > 0 && !math.IsInf(c.Share, 1) {
		return c.Share
	}
	return DefaultShare
}

func (c Cost) isDefault() bool { return c.Delay <= 0 && c.share() == DefaultShare }
