package learn

import (
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Run is a past run as its attempts saw it: unfinished at the age Lo, finished at
// the age Hi. If the two are equal, the duration is known exactly. A negative age
// counts as 0, and a Hi below Lo as Lo.
type Run struct {
	Lo, Hi time.Duration
	// Unfinished says that the run was last seen at the age Lo and not at its end. Hi does
	// not count.
	Unfinished bool
}

// maxRuns is how many of the newest runs are fitted, and maxUnfinished how many of these may be
// unfinished: the runs of a service that is down must not displace all others.
const (
	maxRuns       = 100
	maxUnfinished = 25
)

const (
	shortest = 1e-6                         // seconds; a run of no duration counts as this
	longest  = float64(math.MaxInt64) / 1e9 // seconds; the longest time.Duration
)

// newest returns the runs to learn from, oldest first, and how many of them finished.
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

// bracket returns the logarithms of the ages, in seconds, between which the run ended: -Inf
// and +Inf where it is not known. An exact duration gets the width of the narrowest kernel.
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

// toDuration converts seconds to a duration, which saturates. It rounds up, so
// that no wait ends before the moment it aims at.
func toDuration(seconds float64) time.Duration {
	return words.Nanoseconds(math.Ceil(seconds * 1e9))
}
