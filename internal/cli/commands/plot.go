package commands

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Plot is a chart of one or more series that share the same axes.
type Plot struct {
	Title  string
	X, Y   Axis
	Series []Series // in the order of the legend; a chart with a single series has no legend
}

// An Axis describes the x-axis or the y-axis of a plot.
type Axis struct {
	Name    string
	Seconds bool // whether the values are numbers of seconds, which are labeled as durations
}

// A Series is a named line through points, which are sorted by X.
type Series struct {
	Name   string
	Points []Point
}

// A Point is a point of a series.
type Point struct{ X, Y float64 }

// text formats v as a label of the axis. It rounds numbers below 10 to two significant digits, and other numbers
// to whole numbers.
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

// A scale maps the values of an axis to positions between 0 and 1.
type scale struct {
	Axis
	log       bool
	low, high float64
}

// scales returns scales that include all points of the plot. Linear scales also include 0. The y scale is
// logarithmic if a linear scale would hide a series, because the last values of the series differ too much.
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

// position returns the position of v, which is 0 at the start and 1 at the end of the axis. It is negative for a
// value that the axis cannot show.
func (s scale) position(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return (v - s.low) / (s.high - s.low)
}

// value returns the value at a position. It is the inverse of the method position.
func (s scale) value(position float64) float64 {
	v := s.low + position*(s.high-s.low)
	if s.log {
		return math.Pow(10, v)
	}
	return v
}

// ticks returns about eight round values for the axis labels.
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

// roundStep returns the smallest number that is at least least, and is 1, 2 or 5 times a power of ten.
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
	width, height          = 1000, 560
	left, right            = 100, 760
	top, bottom            = 50, 490
	legendLine, legendStep = 30, 24

	maxDots = 40 // with more points, the dots of a line would touch each other
)

// SVG returns an SVG image that shows the plots below each other.
func SVG(plots ...Plot) []byte {
	var b picture
	b.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"`, width, len(plots)*height)
	b.printf(" font-family=\"sans-serif\" font-size=\"14\" fill=\"#333\">\n")
	b.printf("<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n")
	for i, p := range plots {
		b.printf("<g transform=\"translate(0,%d)\">\n", i*height)
		b.draw(p)
		b.printf("</g>\n")
	}
	b.printf("</svg>\n")
	return b.Bytes()
}

// A picture builds an SVG image.
type picture struct{ bytes.Buffer }

func (b *picture) printf(format string, args ...any) { fmt.Fprintf(b, format, args...) }

// text writes text at the position (x, y). The string attributes holds further SVG attributes.
func (b *picture) text(x, y float64, text, attributes string) {
	b.printf("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, attributes, html.EscapeString(text))
}

func (b *picture) line(x1, y1, x2, y2 float64, color string, wide int) {
	b.printf("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%d\"/>\n", x1, y1, x2, y2, color, wide)
}

func (b *picture) draw(p Plot) {
	const middle = (left + right) / 2
	x, y := p.scales()
	b.text(middle, top-20, p.Title, `font-size="16" text-anchor="middle"`)
	b.axes(x, y)
	b.text(middle, bottom+45, p.X.Name, `text-anchor="middle"`)
	b.text(0, 0, p.Y.Name, fmt.Sprintf(`text-anchor="middle" transform="translate(25,%d) rotate(-90)"`, (top+bottom)/2))
	for i, s := range p.Series {
		b.series(s, x, y, color(i))
		if len(p.Series) > 1 {
			at := float64(top + 10 + i*legendStep)
			b.line(right+15, at, right+15+legendLine, at, color(i), 3)
			b.text(right+15+legendLine+8, at+5, s.Name, "")
		}
	}
}

// axes draws both axes, their labels, and grid lines across the chart.
func (b *picture) axes(x, y scale) {
	for _, v := range x.ticks() {
		at := acrossOf(x, v)
		b.line(at, top, at, bottom, "#ddd", 1)
		b.text(at, bottom+20, x.text(v), `text-anchor="middle" font-size="12"`)
	}
	for _, v := range y.ticks() {
		at := downOf(y, v)
		b.line(left, at, right, at, "#ddd", 1)
		b.text(left-8, at+4, y.text(v), `text-anchor="end" font-size="12"`)
	}
	b.line(left, bottom, right, bottom, "#333", 1)
	b.line(left, top, left, bottom, "#333", 1)
}

func acrossOf(x scale, v float64) float64 { return left + x.position(v)*(right-left) }
func downOf(y scale, v float64) float64   { return bottom - y.position(v)*(bottom-top) }

// series draws the line of a series. If the series has few points, it also draws a dot at each point.
func (b *picture) series(s Series, x, y scale, color string) {
	var dots picture
	b.printf(`<polyline fill="none" stroke="%s" stroke-width="2" points="`, color)
	for _, p := range s.Points {
		if y.position(p.Y) >= 0 {
			b.printf("%.1f,%.1f ", acrossOf(x, p.X), downOf(y, p.Y))
			dots.printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", acrossOf(x, p.X), downOf(y, p.Y), color)
		}
	}
	b.printf("\"/>\n")
	if len(s.Points) <= maxDots {
		b.Write(dots.Bytes())
	}
}

// color returns the color of series number i. The colors also differ for people with color blindness (Okabe and
// Ito, "Color Universal Design").
func color(i int) string {
	colors := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}
	return colors[i%len(colors)]
}
