package learn

import (
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Run is a past run as its attempts saw it: unfinished at the age Lo, finished at the age Hi. If both are
// equal, the duration is known exactly. A negative age counts as 0. A Hi below Lo counts as Lo.
type Run struct {
	Lo, Hi time.Duration
	// Unfinished is true if the run was last seen unfinished at the age Lo, and its end was not seen. Hi is then
	// ignored.
	Unfinished bool
}

// maxRuns is the number of runs that are fitted, and maxUnfinished the number of unfinished runs among them.
// Unfinished runs of a service that is down must not displace all finished runs.
const (
	maxRuns       = 100
	maxUnfinished = 25
)

const (
	shortest = 1e-6                         // in seconds; a shorter run counts as this long
	longest  = float64(math.MaxInt64) / 1e9 // in seconds; the longest time.Duration
)

// newest returns the runs to learn from, oldest first, and how many of them finished. It leaves out unfinished
// runs with a Lo of 0 or less, which show nothing.
func newest(runs []Run) (kept []Run, finished int) {
	unfinished := 0
	for _, r := range slices.Backward(runs) {
		switch {
		case len(kept) == maxRuns:
		case !r.Unfinished:
			kept = append(kept, r)
			finished++
		case unfinished < maxUnfinished && r.Lo > 0:
			kept = append(kept, r)
			unfinished++
		}
	}
	slices.Reverse(kept)
	return kept, finished
}

// bracket returns the logarithms of the ages, in seconds, between which the run ended. low is -Inf if no attempt
// saw the run unfinished, and high is +Inf if the run did not finish. An exact duration gets the width of the
// narrowest kernel.
func (r Run) bracket() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if r.Lo > 0 {
		low = math.Log(max(r.Lo.Seconds(), shortest))
	}
	if r.Unfinished {
		return low, high
	}
	high = math.Log(max(r.Hi.Seconds(), r.Lo.Seconds(), shortest))
	if high-low < 2*leastSD {
		middle := (low + high) / 2
		return middle - leastSD, middle + leastSD
	}
	return low, high
}

// toDuration converts seconds to a duration, and limits it to the range of durations. It rounds up, so that no
// wait ends before the planned moment.
func toDuration(seconds float64) time.Duration {
	return words.Nanoseconds(math.Ceil(seconds * 1e9))
}
