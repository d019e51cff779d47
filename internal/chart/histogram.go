package chart

import (
	"fmt"
	"math"
	"strings"
)

// The size of a histogram: about so many rows, and bars of at most so many columns.
const (
	histogramRows  = 12
	histogramWidth = 50
)

// Histogram returns lines of text that show how many of the durations fall into
// each of a dozen or so intervals. The durations are in seconds and sorted, and
// there is at least one. label writes an interval. Bars are drawn in ASCII unless
// unicode is set.
func Histogram(durations []float64, label func(from, to float64) string, unicode bool) string {
	const shortest = 1e-3 // step
	low, high := durations[0], durations[len(durations)-1]
	step := Seconds.step(max((high-low)/histogramRows, shortest))
	first := math.Floor(low / step)
	counts := make([]int, int(math.Floor(high/step)-first)+1)
	most := 0
	for _, d := range durations {
		i := min(int(math.Floor(d/step)-first), len(counts)-1)
		counts[i]++
		most = max(most, counts[i])
	}
	block := "#"
	if unicode {
		block = "█"
	}
	scale := min(1, float64(histogramWidth)/float64(most))
	var b strings.Builder
	for i, count := range counts {
		from := (first + float64(i)) * step
		line := fmt.Sprintf("%20s  %s", label(from, from+step), strings.Repeat(block, int(math.Ceil(float64(count)*scale))))
		if count > 0 {
			line += fmt.Sprintf(" %d", count)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
