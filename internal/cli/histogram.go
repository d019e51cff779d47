package cli

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A histogram has about so many rows, and bars of at most so many columns.
const (
	histogramRows  = 12
	histogramWidth = 50
)

// histogram draws how many of the lengths, which are in seconds and sorted, fall
// into each of a few steps.
func (in *invocation) histogram(lengths []float64) string {
	step := roundStep((lengths[len(lengths)-1] - lengths[0]) / histogramRows)
	first := math.Floor(lengths[0] / step)
	counts := make([]int, int(math.Floor(lengths[len(lengths)-1]/step)-first)+1)
	most := 0
	for _, length := range lengths {
		i := min(int(math.Floor(length/step)-first), len(counts)-1)
		counts[i]++
		most = max(most, counts[i])
	}
	block := "#"
	if in.Streams.Unicode {
		block = "█"
	}
	scale := min(1, float64(histogramWidth)/float64(most))
	var b strings.Builder
	for i, count := range counts {
		from := (first + float64(i)) * step
		bar := strings.Repeat(block, int(math.Ceil(float64(count)*scale)))
		label := fmt.Sprintf("%s to %s", spellTime(ofSeconds(from)), spellTime(ofSeconds(from+step)))
		line := fmt.Sprintf("%20s  %s", label, bar)
		if count > 0 {
			line += fmt.Sprintf(" %d", count)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// roundStep is the least step of a scale of times that is not below least: 1, 2
// or 5 times a power of ten up to 10 s, and then one that clocks have.
func roundStep(least float64) float64 {
	if least > 10 {
		for _, step := range []float64{15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400} {
			if step >= least {
				return step
			}
		}
	}
	const shortestStep = 1e-3
	power := math.Pow(10, math.Floor(math.Log10(max(least, shortestStep))))
	for _, digit := range []float64{1, 2, 5} {
		if step := digit * power; step >= least {
			return step
		}
	}
	return 10 * power
}

// ofSeconds is a time of so many seconds, saturated.
func ofSeconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(s * 1e9))
}
