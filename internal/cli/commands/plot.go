package commands

import (
	"math"
	"strconv"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Plot is a chart of one or more series over the same axes.
type Plot struct {
	Title  string
	X, Y   Axis
	Series []Series // in the order of the legend; a single series has none
}

// An Axis is one side of a plot.
type Axis struct {
	Name    string
	Seconds bool // the values are seconds, and written as durations
}

// A Series is a named line through points, in order of X.
type Series struct {
	Name   string
	Points []Point
}

// A Point is one value of a series.
type Point struct{ X, Y float64 }

// text formats a value of the axis: with two digits below 10, and else as a whole number.
func (a Axis) text(v float64) string {
	if v < 10 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	} else {
		v = math.Round(v)
	}
	if !a.Seconds {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	d := time.Duration(math.Round(min(v, math.MaxInt64/2e9) * 1e9))
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d > 20*unit {
			d = d.Round(unit)
		}
	}
	return words.Duration(d)
}

// A scale maps the values of an axis to positions from 0 to 1.
type scale struct {
	Axis
	log       bool
	low, high float64
}

// scales returns the scales that hold all points. Linear scales include 0. The y axis is
// logarithmic if the series end so far apart that a linear axis hides a series.
func (p Plot) scales() (x, y scale) {
	const far = 300
	x, y = scale{Axis: p.X}, scale{Axis: p.Y}
	least, leastEnd, mostEnd := math.Inf(1), math.Inf(1), 0.0
	for _, s := range p.Series {
		end := 0.0
		for _, point := range s.Points {
			x.high, y.high, end = max(x.high, point.X), max(y.high, point.Y), point.Y
			if point.Y > 0 {
				least = min(least, point.Y)
			}
		}
		if end > 0 {
			leastEnd, mostEnd = min(leastEnd, end), max(mostEnd, end)
		}
	}
	if y.log = mostEnd > far*leastEnd; y.log {
		y.low, y.high = math.Floor(math.Log10(least)), math.Ceil(math.Log10(y.high))
	}
	for _, s := range []*scale{&x, &y} {
		if s.high <= s.low {
			s.high = s.low + 1
		}
	}
	return x, y
}

// position returns the place of v. It is below 0 for a value that cannot be shown.
func (s scale) position(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return (v - s.low) / (s.high - s.low)
}

// value returns the inverse of position.
func (s scale) value(position float64) float64 {
	v := s.low + position*(s.high-s.low)
	if s.log {
		return math.Pow(10, v)
	}
	return v
}

// ticks returns about eight round values of the scale.
func (s scale) ticks() []float64 {
	unit := 1.0
	for _, longer := range []float64{60, 60 * 60, 24 * 60 * 60} {
		if s.Seconds && !s.log && s.high >= 2*longer {
			unit = longer
		}
	}
	step := roundStep((s.high-s.low)/unit/8) * unit
	if s.log {
		step = math.Ceil((s.high - s.low) / 12)
	}
	var list []float64
	for i := math.Ceil(s.low / step); i*step <= s.high; i++ {
		list = append(list, s.value((i*step-s.low)/(s.high-s.low)))
	}
	return list
}

// roundStep returns 1, 2 or 5 times a power of ten, at least least.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, digit := range []float64{1, 2, 5} {
		if least <= digit*power {
			return digit * power
		}
	}
	return 10 * power
}
