package chart

import "math"

// A scale places values between 0, the start of an axis, and 1, its end.
type scale struct {
	log       bool
	low, high float64 // the ends; of a logarithmic scale their logarithms
	ticks     []tick
}

// A tick is a labelled place of an axis.
type tick struct {
	at    float64 // from 0 to 1
	label string
}

// linearScale returns a scale from 0, or below, to beyond e, with round steps
// and not many more than so many ticks.
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

// logScale returns a logarithmic scale between landmarks, of which it labels not
// more than so many.
func logScale(e extent, u Unit, ticks int) scale {
	marks := u.landmarks(e.low, e.high)
	s := scale{log: true, low: math.Log10(marks[0]), high: math.Log10(marks[len(marks)-1])}
	every := (len(marks) + ticks - 1) / max(1, ticks)
	for i := 0; i < len(marks); i += every {
		s.ticks = append(s.ticks, tick{s.position(marks[i]), u.format(marks[i])})
	}
	return s
}

// position returns where v lies between the ends, 0 and 1.
func (s scale) position(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return (v - s.low) / (s.high - s.low)
}
