package chart

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pollcli/poll/words"
)

// An extent is a range of values.
type extent struct{ low, high float64 }

// with returns e extended to hold v.
func (e extent) with(v float64) extent { return extent{min(e.low, v), max(e.high, v)} }

// A scale maps values to positions along an axis, from 0 at its start to 1 at its
// end.
type scale struct {
	log       bool
	low, high float64 // the ends, or their logarithms
	ticks     []tick
}

// A tick is a labelled position on an axis.
type tick struct {
	at    float64 // from 0 to 1
	label string
}

// linearScale returns a scale that covers 0 and e in round steps, with about the
// given number of ticks.
func linearScale(e extent, u Unit, ticks int) scale {
	low, high := min(0, e.low), max(0, e.high)
	if high-low < smallest {
		high = 1
	}
	step := u.step((high - low) / float64(max(1, ticks)))
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	s := scale{low: first * step, high: last * step}
	for i := first; i <= last; i++ {
		s.ticks = append(s.ticks, tick{s.position(i * step), u.format(i * step)})
	}
	return s
}

// logScale returns a logarithmic scale that begins and ends at ticks. At most the
// given number of them are labelled.
func logScale(e extent, u Unit, ticks int) scale {
	marks := u.logTicks(e.low, e.high)
	s := scale{log: true, low: math.Log10(marks[0]), high: math.Log10(marks[len(marks)-1])}
	every := (len(marks) + ticks - 1) / max(1, ticks)
	for i := 0; i < len(marks); i += every {
		s.ticks = append(s.ticks, tick{s.position(marks[i]), u.format(marks[i])})
	}
	return s
}

// position returns the position of v.
func (s scale) position(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return (v - s.low) / (s.high - s.low)
}

// A Unit says how values are written.
type Unit int

// The units.
const (
	Number  Unit = iota // a plain number: 950, 12k, 3.5M
	Seconds             // a number of seconds, written as a duration: 100ms, 1m30s, 2d
)

// Lengths of time in seconds.
const (
	minute = 60.0
	hour   = 60 * minute
	day    = 24 * hour
	year   = 365 * day
)

// format writes a value that is a multiple of a tick's step.
func (u Unit) format(v float64) string {
	switch {
	case u != Seconds:
		return formatNumber(v)
	case v > 0 && v < 1e-6:
		return short(v*1e9) + "ns"
	case v >= year:
		return formatNumber(v/year) + "y"
	}
	return words.Duration(time.Duration(math.Round(v * 1e9)))
}

func formatNumber(v float64) string {
	suffixes := []string{"", "k", "M", "G"}
	for i, scale := range []float64{1, 1e3, 1e6, 1e9} {
		if below := max(1e4, 1e3*scale); math.Abs(v) < below {
			return short(v/scale) + suffixes[i]
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// short writes a number to six decimals, which hides rounding errors.
func short(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// step returns a round step not below least.
func (u Unit) step(least float64) float64 {
	if u != Seconds || least <= 0.5 {
		return decimalStep(least)
	}
	for _, s := range []float64{
		1, 2, 5, 10, 15, 30,
		minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour,
		day, 2 * day, 5 * day, 10 * day, 20 * day, 50 * day, 100 * day,
	} {
		if least <= s {
			return s
		}
	}
	return year * decimalStep(max(1, least/year))
}

// decimalStep returns 1, 2 or 5 times a power of ten.
func decimalStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, digit := range []float64{1, 2, 5} {
		if least <= digit*power*(1+1e-9) {
			return digit * power
		}
	}
	return 10 * power
}

// logTicks returns the values that a logarithmic axis from low to high shows:
// powers of ten, or for times 1s, 10s, 1m, 10m, 1h, 1d and so on. The first is at
// most low, the last at least high, and there are at least two.
func (u Unit) logTicks(low, high float64) []float64 {
	i := int(math.Floor(math.Log10(low))) + 3 // times have up to three more than powers of ten
	for u.logTick(i) > low*(1+1e-9) {
		i--
	}
	marks := []float64{u.logTick(i)}
	for len(marks) < 2 || marks[len(marks)-1] < high*(1-1e-9) {
		i++
		marks = append(marks, u.logTick(i))
	}
	return marks
}

// logTick returns the i-th of these values; the 0th is 1.
func (u Unit) logTick(i int) float64 {
	if u == Seconds && i > 0 {
		times := []float64{1, 10, minute, 10 * minute, hour, day, 10 * day, 100 * day}
		if i < len(times) {
			return times[i]
		}
		return year * math.Pow(10, float64(i-len(times)))
	}
	return math.Pow(10, float64(i))
}
