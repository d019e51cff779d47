package learn

import (
	"math"
	"slices"
	"time"
)

// maxRuns is how many of the newest runs are fitted, maxUnfinished how many of these may be
// unfinished: a service that is down must not make all else forgotten.
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
	kept = make([]Run, 0, min(len(runs), maxRuns))
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
// and +Inf where it is not known. What is known exactly gets the width that the narrowest
// kernel has.
func (r Run) bracket() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if r.Lo > 0 {
		low = math.Log(max(r.Lo.Seconds(), shortest))
	}
	if r.Unfinished {
		return low, high
	}
	high = math.Log(max(r.Hi.Seconds(), r.Lo.Seconds(), shortest))
	if high-low < 2*leastBandwidth {
		middle := (low + high) / 2
		return middle - leastBandwidth, middle + leastBandwidth
	}
	return low, high
}

// A point is a past run in a sample.
type point struct {
	order    int     // 0 for the oldest
	ln       float64 // the logarithm of the seconds it took, or of those after which it was unfinished
	place    float64 // like ln, but of an unfinished run where it ends if none took longer
	previous float64 // the place of the run before it, NaN for the oldest
	open     bool    // it is unfinished
}

// A sample is the past runs in order of ln.
type sample []point

func (s *sample) insert(p point) {
	at, _ := slices.BinarySearchFunc(*s, p, func(a, b point) int {
		if a.ln <= b.ln {
			return -1
		}
		return 1
	})
	*s = slices.Insert(*s, at, p)
}

// toDuration converts seconds to a Duration, which saturates. It rounds up, so
// that no wait ends before the moment it aims at.
func toDuration(seconds float64) time.Duration {
	if !(seconds < longest) {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(max(0, seconds) * 1e9))
}
