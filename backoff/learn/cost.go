package learn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// defaultShare is the default cost of an attempt as a share of the median run. At
// 1% a run takes about four attempts.
const defaultShare = 0.01

// A Cost is what an attempt costs, as a delay: an attempt is made if it is expected
// to save more than that. It is either a share of the median run, as forecast from past
// runs, or a time. The zero value is 1% of the median run. An attempt counts as more if a
// run would otherwise take more than about 500.
type Cost struct {
	// Share is the cost as a share of the median run: 0.01 for 1%. 0 or less means
	// the default; other values count as the nearest from 1e-6 to 1e6. Share is
	// ignored if Delay is set.
	Share float64
	// Delay is the cost as a time. 0 or less means that Share applies.
	Delay time.Duration
}

// The limits of a share. Far beyond them the arithmetic of a plan ends in
// infinities.
const (
	leastShare = 1e-6
	mostShare  = 1e6
)

// ParseCost parses a cost: "1%" is a share of the median run, from 0.0001% to
// 100%, and "2s" a delay above 0.
func ParseCost(s string) (Cost, error) {
	if number, ok := strings.CutSuffix(s, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent/100 >= leastShare && percent <= 100) {
			return Cost{}, fmt.Errorf("%q: want a percentage from 0.0001%% to 100%%", s)
		}
		return Cost{Share: percent / 100}, nil
	}
	delay, err := time.ParseDuration(s)
	if err != nil || delay <= 0 {
		return Cost{}, fmt.Errorf("%q: want a percentage of the median such as 1%%, or a duration above 0 such as 2s", s)
	}
	return Cost{Delay: delay}, nil
}

// String returns c in the form that [ParseCost] parses.
func (c Cost) String() string {
	if c.Delay > 0 {
		return c.Delay.String()
	}
	return strconv.FormatFloat(math.Round(c.share()*1e8)/1e6, 'g', -1, 64) + "%"
}

// seconds returns the cost as a delay, of runs with that median in seconds.
func (c Cost) seconds(median float64) float64 {
	if c.Delay > 0 {
		return c.Delay.Seconds()
	}
	return c.share() * median
}

func (c Cost) share() float64 {
	if c.Share > 0 {
		return min(max(c.Share, leastShare), mostShare)
	}
	return defaultShare
}
