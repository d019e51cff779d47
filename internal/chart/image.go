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

// ErrNothingToDraw is the error for a plot without a point that can be drawn.
var ErrNothingToDraw = errors.New("nothing to draw")

// The size of a picture in pixels. An SVG may be scaled.
const (
	imageWidth  = 1000
	imageHeight = 560
)

// SVG writes the plot to w as SVG. The error is that of w, or wraps
// ErrNothingToDraw.
func (p Plot) SVG(w io.Writer) error {
	var b bytes.Buffer
	if err := p.escaped().render(gochart.SVG, &b); err != nil {
		return err
	}
	// Without a size of its own, a picture within another one is stretched.
	size := fmt.Sprintf(`<svg width="%d" height="%d" `, imageWidth, imageHeight)
	if _, err := w.Write(bytes.Replace(b.Bytes(), []byte("<svg "), []byte(size), 1)); err != nil {
		return fmt.Errorf("draw %q: %w", p.Title, err)
	}
	return nil
}

// PNG writes the plot to w as a PNG of 1000 by 560 pixels. The error is that of w,
// or wraps ErrNothingToDraw.
func (p Plot) PNG(w io.Writer) error {
	return p.render(gochart.PNG, w)
}

// escaped returns p with its texts escaped for XML, which the library does not do.
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

// defaultFont returns the font of the library. The library would parse it while it
// draws the first picture, which is a data race if two are drawn at once.
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

// chart describes the frame to the library. The axes run from 0 to 1, because the
// library's own logarithmic axis cannot show values below 1. The y axis is the
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

// nameY writes the name of the y axis, centred and running upwards. The library
// centres names only if they run downwards.
func (f frame) nameY(r gochart.Renderer, canvas gochart.Box, defaults gochart.Style) {
	style := nameStyle().InheritFrom(defaults)
	style.GetTextOptions().WriteToRenderer(r)
	width := r.MeasureText(f.Y.Name).Width()
	r.SetTextRotation(gochart.DegreesToRadians(270))
	r.Text(f.Y.Name, 30, (canvas.Top+canvas.Bottom+width)/2)
	r.ClearTextRotation()
}

func (f frame) hasLegend() bool { return len(f.Series) > 1 }

// The dimensions of the legend in pixels.
const (
	legendGap  = 15 // to the right of the canvas
	legendLine = 30 // the length of the line before a name
	legendRow  = 24
)

// legend draws the legend to the right of the canvas, where it covers no line. The
// library's own puts the samples behind the names, where they collide if the font
// is wider than the library assumes.
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

// legendWidth returns the width of the legend in pixels.
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

// lines returns a line for each run of s. Only the first has the name of s.
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

// More points than maxPoints cannot be seen, and more than maxDots dots merge.
const (
	maxPoints = 1000
	maxDots   = 40
)

// thin returns n of the points, evenly spaced, including the first and the last.
// If there are fewer, it returns them all.
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

// nameStyle returns the style of the names of axes and series.
func nameStyle() gochart.Style {
	return gochart.Style{FontColor: ink(), FontSize: 11}
}

func ink() drawing.Color { return drawing.ColorFromHex("333333") }

// palette returns the colour of series i. Colour-blind readers can tell them apart,
// too (Okabe and Ito, "Color Universal Design").
func palette(i int) drawing.Color {
	colors := []string{"0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9"}
	return drawing.ColorFromHex(colors[i%len(colors)])
}

// StackSVG writes the plots to w as one SVG, one below the other. A plot with
// nothing to draw is left out. The error is that of w, or wraps ErrNothingToDraw if
// all are left out.
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
