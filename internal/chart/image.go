package chart

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"sync"
	"unicode/utf8"

	gochart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// ErrNothingToDraw reports a plot without a point that can be drawn.
var ErrNothingToDraw = errors.New("nothing to draw")

// The size of an image in pixels. An SVG may be scaled.
const (
	imageWidth  = 1000
	imageHeight = 560
)

// SVG writes the plots to w as one SVG, one below the other. A plot with nothing to
// draw is left out. The error is that of w, or wraps ErrNothingToDraw if all are
// left out.
func SVG(w io.Writer, plots ...Plot) error {
	var parts [][]byte
	err := ErrNothingToDraw
	for _, p := range plots {
		var b bytes.Buffer
		if err = p.escaped().render(gochart.SVG, &b); errors.Is(err, ErrNothingToDraw) {
			continue
		} else if err != nil {
			return err
		}
		// Without its own size, a nested SVG is stretched.
		size := fmt.Sprintf(`<svg width="%d" height="%d" `, imageWidth, imageHeight)
		parts = append(parts, bytes.Replace(b.Bytes(), []byte("<svg "), []byte(size), 1))
	}
	switch len(parts) {
	case 0:
		return err
	case 1:
		_, err = w.Write(parts[0])
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %[1]d %[2]d\">\n",
		imageWidth, len(parts)*imageHeight)
	for i, part := range parts {
		fmt.Fprintf(&b, "<g transform=\"translate(0,%d)\">\n%s\n</g>\n", i*imageHeight, part)
	}
	b.WriteString("</svg>\n")
	_, err = b.WriteTo(w)
	return err
}

// PNG writes the plot to w as a PNG of 1000 by 560 pixels. The error is that of w,
// or wraps ErrNothingToDraw.
func (p Plot) PNG(w io.Writer) error {
	return p.render(gochart.PNG, w)
}

// escaped returns p with its texts escaped for XML, which the library does not do.
func (p Plot) escaped() Plot {
	p.Title, p.X.Name, p.Y.Name = html.EscapeString(p.Title), html.EscapeString(p.X.Name), html.EscapeString(p.Y.Name)
	series := make([]Series, len(p.Series))
	for i, s := range p.Series {
		series[i] = Series{Name: html.EscapeString(s.Name), Points: s.Points}
	}
	p.Series = series
	return p
}

// defaultFont returns the library's font. The library would parse it lazily while
// drawing, which is a data race if two images are drawn at once.
var defaultFont = sync.OnceValues(gochart.GetDefaultFont)

func (p Plot) render(as gochart.RendererProvider, w io.Writer) error {
	f, ok := p.layOut(12, 8)
	if !ok {
		return fmt.Errorf("draw %q: %w", p.Title, ErrNothingToDraw)
	}
	c := f.chart()
	var err error
	if c.Font, err = defaultFont(); err == nil {
		err = c.Render(as, w)
	}
	if err != nil {
		return fmt.Errorf("draw %q: %w", p.Title, err)
	}
	return nil
}

// chart describes the frame to the library. The axes run from 0 to 1, because the
// library's own logarithmic axis cannot show values below 1. The y axis is the
// library's secondary one, which is on the left.
func (f frame) chart() *gochart.Chart {
	axis := gochart.Style{FontColor: ink(), FontSize: 10, StrokeColor: ink(), StrokeWidth: 1}
	grid := gochart.Style{StrokeColor: drawing.ColorFromHex("dddddd"), StrokeWidth: 1}
	unit := func() gochart.Range { return &gochart.ContinuousRange{Min: 0, Max: 1} }
	ticks := f.y.imageTicks()
	c := &gochart.Chart{
		Title:      f.Title,
		TitleStyle: gochart.Style{FontSize: 14, FontColor: ink()},
		Width:      imageWidth,
		Height:     imageHeight,
		Background: gochart.Style{Padding: gochart.Box{Top: 50, Left: 55, Right: 40 + f.legendWidth(), Bottom: 25}},
		XAxis: gochart.XAxis{
			Name:           f.X.Name,
			NameStyle:      nameStyle(),
			Style:          axis,
			TickPosition:   gochart.TickPositionUnderTick,
			Range:          unit(),
			Ticks:          f.x.imageTicks(),
			GridMajorStyle: grid,
			GridMinorStyle: grid,
		},
		// The library looks here for the ticks of the other axis.
		YAxis:          gochart.YAxis{Style: gochart.Hidden(), Range: unit(), Ticks: ticks},
		YAxisSecondary: gochart.YAxis{Style: axis, Range: unit(), Ticks: ticks, GridMajorStyle: grid, GridMinorStyle: grid},
		Elements:       []gochart.Renderable{f.nameY, f.legend},
	}
	for i, s := range f.Series {
		c.Series = append(c.Series, f.lines(s, imageColor(i))...)
	}
	return c
}

// nameY writes the name of the y axis, centred and running upwards. The library
// centres names only if they run downwards.
func (f frame) nameY(r gochart.Renderer, canvas gochart.Box, defaults gochart.Style) {
	nameStyle().InheritFrom(defaults).GetTextOptions().WriteToRenderer(r)
	width := r.MeasureText(f.Y.Name).Width()
	r.SetTextRotation(gochart.DegreesToRadians(270))
	r.Text(f.Y.Name, 30, (canvas.Top+canvas.Bottom+width)/2)
	r.ClearTextRotation()
}

// The dimensions of the legend in pixels.
const (
	legendGap  = 15 // to the right of the canvas
	legendLine = 30 // the length of the line before a name
	legendRow  = 24
)

// legend draws the legend, if any, to the right of the canvas, where it covers no
// line. In the library's own, names collide with the line samples if the font is
// wider than it assumes.
func (f frame) legend(r gochart.Renderer, canvas gochart.Box, defaults gochart.Style) {
	if len(f.Series) < 2 {
		return
	}
	for i, s := range f.Series {
		x, y := canvas.Right+legendGap, canvas.Top+10+i*legendRow
		gochart.Style{StrokeColor: imageColor(i), StrokeWidth: 3}.WriteToRenderer(r)
		r.MoveTo(x, y)
		r.LineTo(x+legendLine, y)
		r.Stroke()
		nameStyle().InheritFrom(defaults).GetTextOptions().WriteToRenderer(r)
		r.Text(s.Name, x+legendLine+8, y+5)
	}
}

// legendWidth returns the width of the legend in pixels.
func (f frame) legendWidth() int {
	if len(f.Series) < 2 {
		return 0
	}
	longest := 0
	for _, s := range f.Series {
		longest = max(longest, utf8.RuneCountInString(s.Name))
	}
	return legendLine + 8*min(longest, 40)
}

// More points than maxPoints cannot be seen; more than maxDots dots merge.
const (
	maxPoints = 1000
	maxDots   = 40
)

// lines returns a line for each run of s.
func (f frame) lines(s Series, color drawing.Color) []gochart.Series {
	var lines []gochart.Series
	for _, run := range f.runs(s) {
		line := gochart.ContinuousSeries{
			YAxis: gochart.YAxisSecondary,
			Style: gochart.Style{StrokeColor: color, StrokeWidth: 2, DotColor: color},
		}
		if len(run) <= maxDots {
			line.Style.DotWidth = 3
		}
		n := min(len(run), maxPoints) // evenly spaced, including the first and the last
		for i := range n {
			x, y := f.position(run[i*(len(run)-1)/max(1, n-1)])
			line.XValues, line.YValues = append(line.XValues, x), append(line.YValues, y)
		}
		lines = append(lines, line)
	}
	return lines
}

func (s scale) imageTicks() []gochart.Tick {
	ticks := make([]gochart.Tick, len(s.ticks))
	for i, t := range s.ticks {
		ticks[i] = gochart.Tick{Value: t.at, Label: t.label}
	}
	return ticks
}

// nameStyle returns the style of the names of axes and series.
func nameStyle() gochart.Style {
	return gochart.Style{FontColor: ink(), FontSize: 11}
}

func ink() drawing.Color { return drawing.ColorFromHex("333333") }

// imageColor returns the colour of series i. Colour-blind readers can distinguish
// them (Okabe and Ito, "Color Universal Design").
func imageColor(i int) drawing.Color {
	colors := []string{"0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9"}
	return drawing.ColorFromHex(colors[i%len(colors)])
}
