package learn

import "time"

// defaultShare is the default cost of an attempt as a share of the median run. At
// 1% a run takes about four attempts.
const defaultShare = 0.01

// A Cost is what an attempt costs, as a delay: an attempt is made if it is expected
// to save more than that. It is either a share of the median run, as forecast from past
// runs, or a time. The zero value is 1% of the median run, and the least 0.001% of it.
type Cost struct {
	// Share is the cost as a share of the median run: 0.01 for 1%. 0 or less means
	// the default, more than 1e6 as 1e6. Share is ignored if Delay is set.
	Share float64
	// Delay is the cost as a time. 0 or less means that Share applies.
	Delay time.Duration
}

// The limits of a cost, as shares of the median. Beyond them a run would take thousands of
// attempts, or the arithmetic of a plan end in infinities.
const (
	leastShare = 1e-5
	mostShare  = 1e6
)

// seconds returns the cost as a delay, of runs with that median in seconds.
func (c Cost) seconds(median float64) float64 {
	cost := defaultShare * median
	switch {
	case c.Delay > 0:
		cost = c.Delay.Seconds()
	case c.Share > 0:
		cost = min(c.Share, mostShare) * median
	}
	return max(cost, leastShare*median)
}
