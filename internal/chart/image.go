package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	gochart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// ErrNothingToDraw is the error of a plot without a point that could be drawn.
var ErrNothingToDraw = errors.New("nothing to draw")

// The size of an image in pixels; an SVG scales.
const (
	imageWidth  = 1000
	imageHeight = 560
)

// SVG writes the plot as a scalable picture. The error is that of w or
// ErrNothingToDraw.
func (p Plot) SVG(w io.Writer) error {
	var b bytes.Buffer
	if err := p.escaped().render(gochart.SVG, &b); err != nil {
		return err
	}
	// Without a size of its own a picture within another would be stretched.
	size := fmt.Sprintf(`<svg width="%d" height="%d" `, imageWidth, imageHeight)
	if _, err := w.Write(bytes.Replace(b.Bytes(), []byte("<svg "), []byte(size), 1)); err != nil {
		return fmt.Errorf("draw %q: %w", p.Title, err)
	}
	return nil
}

// PNG writes the plot as a picture of 1000 by 560 pixels. The error is that of w
// or ErrNothingToDraw.
func (p Plot) PNG(w io.Writer) error {
	return p.render(gochart.PNG, w)
}

// escaped returns p with its words fit for XML, which the library leaves to us.
func (p Plot) escaped() Plot {
	p.Title, p.X.Name, p.Y.Name = escape(p.Title), escape(p.X.Name), escape(p.Y.Name)
	series := make([]Series, len(p.Series))
	for i, s := range p.Series {
		series[i] = Series{Name: escape(s.Name), Points: s.Points}
	}
	p.Series = series
	return p
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// defaultFont is the library's. Left to itself the library would parse it at the
// first picture, in a way that two pictures drawn at once may trip over.
var defaultFont = sync.OnceValues(gochart.GetDefaultFont)

func (p Plot) render(as gochart.RendererProvider, w io.Writer) error {
	f, ok := p.layOut(12, 8)
	if !ok {
		return fmt.Errorf("draw %q: %w", p.Title, ErrNothingToDraw)
	}
	c := f.chart()
	var err error
	if c.Font, err = defaultFont(); err != nil {
		return fmt.Errorf("draw %q: %w", p.Title, err)
	}
	if err := c.Render(as, w); err != nil {
		return fmt.Errorf("draw %q: %w", p.Title, err)
	}
	return nil
}

// chart describes the frame to the library. Its axes run from 0 to 1, since its
// own logarithmic axis cannot show values below 1; and the y axis is the
// library's secondary one, which is on the left.
func (f frame) chart() *gochart.Chart {
	c := &gochart.Chart{
		Title:      f.Title,
		TitleStyle: gochart.Style{FontSize: 14, FontColor: ink()},
		Width:      imageWidth,
		Height:     imageHeight,
		Background: gochart.Style{Padding: gochart.Box{Top: 50, Left: 55, Right: 40 + f.legendWidth(), Bottom: 25}},
		XAxis: gochart.XAxis{
			Name:           f.X.Name,
			NameStyle:      nameStyle(),
			Style:          axisStyle(),
			TickPosition:   gochart.TickPositionUnderTick,
			Range:          &gochart.ContinuousRange{Min: 0, Max: 1},
			Ticks:          f.x.imageTicks(),
			GridMajorStyle: gridStyle(),
			GridMinorStyle: gridStyle(),
		},
		YAxis: gochart.YAxis{
			Style: gochart.Hidden(),
			Range: &gochart.ContinuousRange{Min: 0, Max: 1},
			Ticks: f.y.imageTicks(), // the library looks here for those of the other axis
		},
		YAxisSecondary: gochart.YAxis{
			Style:          axisStyle(),
			Range:          &gochart.ContinuousRange{Min: 0, Max: 1},
			Ticks:          f.y.imageTicks(),
			GridMajorStyle: gridStyle(),
			GridMinorStyle: gridStyle(),
		},
	}
	for i, s := range f.Series {
		c.Series = append(c.Series, f.lines(s, palette(i))...)
	}
	c.Elements = []gochart.Renderable{f.nameY}
	if f.hasLegend() {
		c.Elements = append(c.Elements, f.legend)
	}
	return c
}

// nameY writes the name of the y axis upwards and in its middle, which the
// library does for names that run downwards only.
func (f frame) nameY(r gochart.Renderer, canvas gochart.Box, defaults gochart.Style) {
	style := nameStyle().InheritFrom(defaults)
	style.GetTextOptions().WriteToRenderer(r)
	width := r.MeasureText(f.Y.Name).Width()
	r.SetTextRotation(gochart.DegreesToRadians(270))
	r.Text(f.Y.Name, 30, (canvas.Top+canvas.Bottom+width)/2)
	r.ClearTextRotation()
}

func (f frame) hasLegend() bool { return len(f.Series) > 1 }

// The measures of the legend in pixels.
const (
	legendGap  = 15 // to the right of the canvas
	legendLine = 30 // the length of the line before a name
	legendRow  = 24
)

// legend writes what the lines are to the right of the canvas, where it hides
// none of them. The library's own has the lines behind the names, where a font
// that is wider than it knows runs into them.
func (f frame) legend(r gochart.Renderer, canvas gochart.Box, defaults gochart.Style) {
	for i, s := range f.Series {
		x, y := canvas.Right+legendGap, canvas.Top+10+i*legendRow
		gochart.Style{StrokeColor: palette(i), StrokeWidth: 3}.WriteToRenderer(r)
		r.MoveTo(x, y)
		r.LineTo(x+legendLine, y)
		r.Stroke()
		nameStyle().InheritFrom(defaults).GetTextOptions().WriteToRenderer(r)
		r.Text(s.Name, x+legendLine+8, y+5)
	}
}

// legendWidth returns the pixels that the legend takes.
func (f frame) legendWidth() int {
	if !f.hasLegend() {
		return 0
	}
	longest := 0
	for _, s := range f.Series {
		longest = max(longest, utf8.RuneCountInString(s.Name))
	}
	return legendLine + 8*min(longest, 40)
}

// lines returns a line for each run of s. The first has the name, which the
// legend shows.
func (f frame) lines(s Series, color drawing.Color) []gochart.Series {
	name := s.Name
	var lines []gochart.Series
	for _, run := range f.runs(s) {
		run = thin(run, maxPoints)
		line := gochart.ContinuousSeries{
			Name:  name,
			YAxis: gochart.YAxisSecondary,
			Style: gochart.Style{StrokeColor: color, StrokeWidth: 2, DotColor: color},
		}
		if len(run) <= maxDots {
			line.Style.DotWidth = 3
		}
		for x, y := range f.positions(run) {
			line.XValues = append(line.XValues, x)
			line.YValues = append(line.YValues, y)
		}
		lines = append(lines, line)
		name = ""
	}
	return lines
}

// What a picture can hold: more points than maxPoints are not seen, more dots
// than maxDots make a caterpillar.
const (
	maxPoints = 1000
	maxDots   = 40
)

// thin returns about n of the points, the first and the last among them.
func thin(points []Point, n int) []Point {
	if len(points) <= n {
		return points
	}
	thinned := make([]Point, n)
	for i := range thinned {
		thinned[i] = points[i*(len(points)-1)/(n-1)]
	}
	return thinned
}

func (s scale) imageTicks() []gochart.Tick {
	ticks := make([]gochart.Tick, len(s.ticks))
	for i, t := range s.ticks {
		ticks[i] = gochart.Tick{Value: t.at, Label: t.label}
	}
	return ticks
}

func axisStyle() gochart.Style {
	return gochart.Style{FontColor: ink(), FontSize: 10, StrokeColor: ink(), StrokeWidth: 1}
}

func gridStyle() gochart.Style {
	return gochart.Style{StrokeColor: drawing.ColorFromHex("dddddd"), StrokeWidth: 1}
}

// nameStyle is that of the names of axes and lines.
func nameStyle() gochart.Style {
	return gochart.Style{FontColor: ink(), FontSize: 11}
}

func ink() drawing.Color { return drawing.ColorFromHex("333333") }

// palette returns colours that the colour-blind tell apart too (Okabe and Ito,
// "Color Universal Design").
func palette(i int) drawing.Color {
	colors := []string{"0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9"}
	return drawing.ColorFromHex(colors[i%len(colors)])
}

// StackSVG writes plots below one another as one scalable picture. A plot with
// nothing to draw is left out; if that is all of them, the error is
// ErrNothingToDraw.
func StackSVG(w io.Writer, plots ...Plot) error {
	var parts bytes.Buffer
	height := 0
	for _, p := range plots {
		if _, ok := p.layOut(1, 1); !ok {
			continue
		}
		fmt.Fprintf(&parts, "<g transform=\"translate(0,%d)\">\n", height)
		if err := p.SVG(&parts); err != nil {
			return err
		}
		parts.WriteString("\n</g>\n")
		height += imageHeight
	}
	if height == 0 {
		return fmt.Errorf("draw %d plots: %w", len(plots), ErrNothingToDraw)
	}
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %[1]d %[2]d\">\n%[3]s</svg>\n",
		imageWidth, height, parts.Bytes())
	if err != nil {
		return fmt.Errorf("draw %d plots: %w", len(plots), err)
	}
	return nil
}
