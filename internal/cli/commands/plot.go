package commands

import (
	"bytes"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"text/template"

	"github.com/pollcli/poll/internal/words"
)

// A plot is a chart of one or more series that share the same axes.
type plot struct {
	Title  string
	X, Y   axis
	Series []series // in the order of the legend; a chart with a single series has no legend

	// The method drawn sets these fields. Down is the position in the image.
	Down           int
	XTicks, YTicks []tick
}

// An axis describes the x-axis or the y-axis of a plot.
type axis struct {
	Name    string
	seconds bool // whether the values are numbers of seconds, which are labeled as durations
}

// A series is a named line through points, which are sorted by X.
type series struct {
	Name   string
	Points []point

	// The method drawn sets these fields. Legend is the position of the line in the legend.
	Color  string
	Legend int
}

// A point is a point of a series, or a position in pixels.
type point struct{ X, Y float64 }

// text formats v as a label of the axis.
func (a axis) text(v float64) string {
	if !a.seconds {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return words.Duration(words.Nanoseconds(v * 1e9))
}

// A scale maps the values of an axis to positions in pixels.
type scale struct {
	axis
	log        bool
	low, high  float64 // the range of the values, or of their logarithms
	start, end float64 // the positions of low and high
}

// scales returns scales that include all points of the plot. Linear scales also include 0. The y scale is
// logarithmic if the last values of the series differ so much that a linear scale would hide a series.
func (p plot) scales() (x, y scale) {
	const far = 300
	x, y = scale{axis: p.X, start: left, end: right}, scale{axis: p.Y, start: bottom, end: top}
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

// pixel returns the position of n, which is a value of the axis, or the logarithm of a value.
func (s scale) pixel(n float64) float64 { return s.start + (n-s.low)/(s.high-s.low)*(s.end-s.start) }

// A tick is a label of an axis.
type tick struct {
	At   float64 // the position in pixels
	Text string
}

// ticks returns labels for about eight round values.
func (s scale) ticks() (list []tick) {
	unit := 1.0
	for _, longer := range []float64{60, 60 * 60, 24 * 60 * 60} {
		if s.seconds && !s.log && s.high >= 2*longer {
			unit = longer
		}
	}
	step := roundStep((s.high-s.low)/unit/8) * unit
	if s.log {
		step = math.Ceil((s.high - s.low) / 12)
	}
	for i := math.Ceil(s.low / step); i*step <= s.high; i++ {
		value := i * step
		if s.log {
			value = math.Pow(10, value)
		}
		list = append(list, tick{At: s.pixel(i * step), Text: s.text(value)})
	}
	return list
}

// roundStep returns the smallest number that is not below least and is 1, 2 or 5 times a power of ten.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, digit := range []float64{1, 2, 5} {
		if least <= digit*power {
			return digit * power
		}
	}
	return 10 * power
}

// The layout of a chart in pixels. The labels are in the margins, and the legend is in the right margin.
const (
	height      = 560
	left, right = 100, 760
	top, bottom = 50, 490
	legendStep  = 24
)

// pictureTemplate is the template for an image. It has the same layout as the constants above.
//
//go:embed plot.svg.tmpl
var pictureTemplate string

// picture returns an SVG image that shows the plots from top to bottom.
func picture(plots ...plot) []byte {
	var drawn []plot
	for i, p := range plots {
		drawn = append(drawn, p.drawn(i*height))
	}
	var b bytes.Buffer
	image := map[string]any{"Height": len(plots) * height, "Plots": drawn}
	template.Must(template.New("").Parse(pictureTemplate)).Execute(&b, image) // writing to a buffer never fails
	return b.Bytes()
}

// drawn returns a copy of p that contains positions in pixels instead of values. down is the position of the plot in
// the image. The copy omits points that a logarithmic axis cannot show. The colors can also be distinguished by
// people with color blindness (Okabe and Ito, "Color Universal Design").
func (p plot) drawn(down int) plot {
	colors := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}
	x, y := p.scales()
	p.Down, p.XTicks, p.YTicks, p.Series = down, x.ticks(), y.ticks(), slices.Clone(p.Series)
	for i, s := range p.Series {
		line := series{Name: s.Name, Color: colors[i%len(colors)], Legend: top + 10 + i*legendStep}
		for _, point := range s.Points {
			if y.log {
				point.Y = math.Log10(point.Y)
			}
			if point.Y >= y.low {
				point.X, point.Y = x.pixel(point.X), y.pixel(point.Y)
				line.Points = append(line.Points, point)
			}
		}
		p.Series[i] = line
	}
	return p
}
