// Package chart draws line charts on a terminal, as SVG and as PNG, and histograms
// on a terminal.
//
// Which points are drawn, where the axes begin and end, and what their ticks say is
// decided here and not by the chart libraries, so that all renderings of a plot
// agree.
package chart

import "math"

// A Plot is a chart of one or more series over the same axes.
type Plot struct {
	Title  string // drawn above the chart unless empty
	X, Y   Axis
	Series []Series // in the order of the legend; a single line needs none
	LogY   bool     // makes the y axis logarithmic; points at or below 0 are left out
}

// An Axis describes the values along one side of a plot.
type Axis struct {
	Name string // written along the axis, as "attempt" or "time since the start"
	Unit Unit   // how values are written; by default plain numbers
}

// A Series is a named line from point to point.
type Series struct {
	Name   string
	Points []Point
}

// A Point is one value of a series. A value that is not finite, or beyond 10^300,
// interrupts the line.
type Point struct{ X, Y float64 }

// NeedsLog reports whether the series end so far apart that only a logarithmic axis
// shows them all.
func NeedsLog(series []Series) bool {
	const much = 300
	least, most := math.Inf(1), 0.0
	for _, s := range series {
		last := 0.0
		for _, p := range s.Points {
			if p.Y > 0 && !math.IsInf(p.Y, 0) {
				last = p.Y
			}
		}
		if last > 0 {
			least, most = min(least, last), max(most, last)
		}
	}
	return most > much*least
}

// A frame is a plot with its axes laid out.
type frame struct {
	Plot
	x, y scale
}

// layOut computes the axes of p, with about the given numbers of ticks. It returns
// false if p has no point that can be drawn.
func (p Plot) layOut(xTicks, yTicks int) (f frame, ok bool) {
	x := extent{math.Inf(1), math.Inf(-1)}
	y := x
	for _, s := range p.Series {
		for _, point := range s.Points {
			if p.drawable(point) {
				x, y, ok = x.with(point.X), y.with(point.Y), true
			}
		}
	}
	if !ok {
		return frame{}, false
	}
	f = frame{Plot: p, x: linearScale(x, p.X.Unit, xTicks)}
	if p.LogY {
		f.y = logScale(y, p.Y.Unit, yTicks)
	} else {
		f.y = linearScale(y, p.Y.Unit, yTicks)
	}
	return f, true
}

// runs splits s where the line is interrupted.
func (p Plot) runs(s Series) [][]Point {
	var runs [][]Point
	start := 0
	for i := 0; i <= len(s.Points); i++ {
		if i < len(s.Points) && p.drawable(s.Points[i]) {
			continue
		}
		if i > start {
			runs = append(runs, s.Points[start:i])
		}
		start = i + 1
	}
	return runs
}

// Beyond these values the arithmetic of the axes would overflow or underflow.
const (
	largest  = 1e300
	smallest = 1e-300
)

func (p Plot) drawable(point Point) bool {
	finite := func(v float64) bool { return math.Abs(v) <= largest } // false for NaN too
	return finite(point.X) && finite(point.Y) && (!p.LogY || point.Y > smallest)
}

// position returns the place of a point on the two scales, from 0 to 1.
func (f frame) position(p Point) (x, y float64) { return f.x.position(p.X), f.y.position(p.Y) }
