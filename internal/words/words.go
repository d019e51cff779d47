// Package words formats durations, numbers and counts, so that the whole program
// writes them alike, puts what others wrote on a line, and finds the word that was meant by a
// misspelled one.
package words

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Duration formats a duration for people: "100ms", "3.075s", "1h18m18s", "4d12h".
// It rounds to milliseconds, and from a minute on to seconds. The longest duration
// stands for all longer ones, too.
func Duration(d time.Duration) string {
	switch {
	case d == math.MaxInt64:
		return "over 292 years"
	case d < time.Millisecond:
		return d.String()
	case d < time.Second:
		return d.Round(time.Microsecond).String()
	case d.Round(time.Millisecond) < time.Minute:
		return d.Round(time.Millisecond).String()
	}
	d = d.Round(time.Second)
	var b strings.Builder
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := d / unit.of; n > 0 {
			b.WriteString(strconv.Itoa(int(n)) + unit.name)
		}
		d %= unit.of
	}
	return b.String()
}

// Short formats a duration with the two or three digits a sentence needs: "85ms",
// "2.5s", "40s", "1h30m".
func Short(d time.Duration) string {
	switch {
	case d < time.Second:
		return Duration(d.Round(time.Millisecond))
	case d < 10*time.Second:
		return Duration(d.Round(100 * time.Millisecond))
	case d == math.MaxInt64:
		return Duration(d)
	}
	return Duration(d.Round(time.Second))
}

// InSeconds converts to seconds. [time.Duration.Seconds] rounds twice, which shows
// in the last digit.
func InSeconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

// Number formats a number in full, without an exponent.
func Number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// Counts says how many there are of each kind, in order, but for those of which there is none:
// "4 success, 1 timeout".
func Counts[K ~string](number map[K]int, order ...K) string {
	var parts []string
	for _, kind := range order {
		if n := number[kind]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(kind))
		}
	}
	return strings.Join(parts, ", ")
}

// Count formats a number of things: "1 attempt", "2 attempts".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
